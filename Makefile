# `make paper` and `make test` need Python 3.11 or later with pip, and nothing else: the first call makes .venv.
PYTHON ?= python3
BIN := .venv/bin

.PHONY: paper test lint bench clean

paper: .venv/installed
	$(BIN)/equipoise paper --out results

test: .venv/installed
	$(BIN)/pytest -n 2

lint: .venv/installed
	$(BIN)/ruff check
	$(BIN)/ruff format --check
	$(BIN)/mypy
	$(BIN)/lint-imports

bench: .venv/installed
	$(BIN)/python benchmarks/step.py
	$(BIN)/python benchmarks/leap.py
	$(BIN)/python benchmarks/compile.py
	$(BIN)/python benchmarks/bounds.py

clean:
	rm -rf .venv build dist results

.venv/installed: pyproject.toml
	$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "equipoise needs Python 3.11 or later; set PYTHON=...")'
	$(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[dev]'
	touch $@
