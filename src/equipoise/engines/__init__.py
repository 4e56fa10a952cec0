"""What runs a page: compile.py makes it fast, step.py plays it round by round."""
