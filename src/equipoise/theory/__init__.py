"""The theory as functions: one for every theorem and lemma, with its constants; nothing is simulated.

>>> from equipoise import theory
>>> bound = theory.lower_bound(k=64, T=100_000, sigma=1.0, q=2, sharp=True)
>>> str(bound.term)
'recursion'
"""

from equipoise.theory.bounds import average_baseline as average_baseline
from equipoise.theory.bounds import corollary_rate as corollary_rate
from equipoise.theory.bounds import exploitation_penalty as exploitation_penalty
from equipoise.theory.bounds import first_linearisation as first_linearisation
from equipoise.theory.bounds import first_participant_regret as first_participant_regret
from equipoise.theory.bounds import lower_bound as lower_bound
from equipoise.theory.bounds import needle_regret as needle_regret
from equipoise.theory.bounds import power_mean_gain as power_mean_gain
from equipoise.theory.bounds import preparation_penalty as preparation_penalty
from equipoise.theory.bounds import regret_of_penalty as regret_of_penalty
from equipoise.theory.bounds import reward_floor as reward_floor
from equipoise.theory.bounds import second_linearisation as second_linearisation
from equipoise.theory.bounds import upper_bound as upper_bound
from equipoise.theory.bounds import upper_constant as upper_constant
from equipoise.theory.domain import Bound as Bound
from equipoise.theory.harmonic import critical_samples as critical_samples
from equipoise.theory.harmonic import frontier as frontier
from equipoise.theory.harmonic import frontier_blocks as frontier_blocks
from equipoise.theory.harmonic import harmonic_number as harmonic_number
from equipoise.theory.harmonic import harmonic_penalty as harmonic_penalty
from equipoise.theory.harmonic import harmonic_penalty_range as harmonic_penalty_range
from equipoise.theory.harmonic import log_term as log_term
from equipoise.theory.harmonic import prefix_balance as prefix_balance
from equipoise.theory.harmonic import preparation_window as preparation_window
from equipoise.theory.information import information_cost as information_cost
from equipoise.theory.information import information_gain as information_gain
from equipoise.theory.information import largest_success as largest_success
from equipoise.theory.information import negative_power_cost as negative_power_cost
from equipoise.theory.information import penalty_constant as penalty_constant
from equipoise.theory.information import success_information as success_information
