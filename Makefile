# Everything runs in a virtual environment of its own; the only needs are Python 3.11 or newer with venv, and make.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
WORKERS ?= 2

.PHONY: run test lint format bench clean

run: $(VENV)/.installed  ## score the built-in baseline on every task
	$(BIN)/turkic-idiom run -m turkic-idiom/char-ngrams

test: $(VENV)/.installed-dev  ## the whole test suite
	HF_HUB_OFFLINE=1 $(BIN)/python -m pytest -n $(WORKERS) tests

lint: $(VENV)/.installed-dev  ## formatting, lint, types, layers
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports

format: $(VENV)/.installed-dev
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

bench: $(VENV)/.installed-dev  ## speed and memory against plain sentence-transformers and stock mteb
	HF_HUB_OFFLINE=1 $(BIN)/python benchmarks/retrieval_suite.py

$(VENV)/.installed: pyproject.toml constraints.txt
	$(PYTHON) -m venv $(VENV)
	$(BIN)/pip install --quiet --disable-pip-version-check -c constraints.txt -e .
	touch $@

$(VENV)/.installed-dev: $(VENV)/.installed
	$(BIN)/pip install --quiet --disable-pip-version-check -c constraints.txt -e '.[dev]'
	touch $@

clean:
	rm -rf $(VENV) build dist .pytest_cache .mypy_cache .ruff_cache .hypothesis
