"""One page per policy, all of the same shape; contract.py says what a page is, template.py is a page to copy."""
