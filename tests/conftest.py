"""Hypothesis draws the same examples every time, and no test fails for being slow."""

from hypothesis import settings

settings.register_profile("fixed", deadline=None, derandomize=True)
settings.load_profile("fixed")
