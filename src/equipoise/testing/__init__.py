"""For tests of your own: `check_policy` holds a policy to its contract, and assertions compare frequencies and laws.

>>> from equipoise.policies.template import Template
>>> print(check_policy(Template(each=2)))
Template(each=2) keeps 17 clauses; not checked: documented (docs=True was not asked for).
"""

from equipoise.testing.contract import ContractError, Report, check_policy
from equipoise.testing.laws import assert_frequencies, assert_same_frequencies, assert_same_law

__all__ = [
    "ContractError",
    "Report",
    "assert_frequencies",
    "assert_same_frequencies",
    "assert_same_law",
    "check_policy",
]
