# `make train` and `make test` set everything up first. Both work on a fresh clone.
PYTHON ?= python3
VENV := .venv
PY := $(VENV)/bin/python
CONFIG ?= configs/auction_poker.toml
JOBS ?= 2
SEEDS ?= 5
LOWEST := .venv-lowest
LOWEST_TESTS := $(addprefix tests/,interfaces/test_single.py interfaces/test_vector.py interfaces/test_parallel.py \
	interfaces/test_aec.py interfaces/test_sb3.py engine/test_render.py learning/test_tensor_file.py \
	learning/test_policy_files.py learning/test_runs.py)
AGENTS ?= rules:tight rules:loose rules:aggressive
.PHONY: help setup train learning leaderboard bench docs test test-clients test-lowest test-all style lint clean
.DEFAULT_GOAL := help

help:  ## this list
	@grep -E '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*##/\t/' | expand -t 12

setup: $(VENV)/.ready  ## a virtual environment with everything in it

$(VENV)/.ready: pyproject.toml constraints.txt
	test -x $(PY) || $(PYTHON) -m venv $(VENV)
	PIP_CONSTRAINT=$(CURDIR)/constraints.txt $(PY) -m pip install --quiet --disable-pip-version-check -e '.[train,evaluate,solve,onnx,data,web,video,dev,docs,examples]'
	touch $@

train: setup  ## learn by self-play, then measure: CONFIG=configs/....toml
	$(PY) train.py $(CONFIG) --auto-resume

# Types are checked beside the tests: mypy takes one core for a minute or two.
test: setup style  ## lint, types, and all tests but the slow ones
	$(PY) -m mypy & OMP_NUM_THREADS=1 $(PY) -m pytest -n $(JOBS) -m 'not slow'; tests=$$?; wait $$! && exit $$tests

$(LOWEST)/.ready: pyproject.toml constraints-lowest.txt
	test -x $(LOWEST)/bin/python || $(PYTHON) -m venv $(LOWEST)
	PIP_CONSTRAINT=$(CURDIR)/constraints-lowest.txt $(LOWEST)/bin/python -m pip install --quiet \
		--disable-pip-version-check -e '.[train]' pytest hypothesis
	touch $@

test-lowest: $(LOWEST)/.ready  ## the interfaces on the lowest versions that pyproject.toml allows
	NUMBA_CACHE_DIR=$(CURDIR)/$(LOWEST)/numba OMP_NUM_THREADS=1 $(LOWEST)/bin/python -m pytest -p no:cacheprovider \
		-m 'not slow' $(LOWEST_TESTS)

test-all: setup lint test-lowest  ## the slow ones too, and the lowest versions allowed
	OMP_NUM_THREADS=1 $(PY) -m pytest -n $(JOBS)

test-clients: setup  ## the examples of other libraries, each in an environment that can hold it: some GB at first
	$(PY) examples/clients/run.py

learning: setup  ## train SEEDS seeds of CONFIG and report chips per deal over seeds
	$(PY) -m benchmarks.learning $(CONFIG) --seeds $(SEEDS)

leaderboard: setup  ## play all agents at the standing benchmarks and rewrite LEADERBOARD.md: hours, for the search plays too
	$(PY) evaluate.py leaderboard $(AGENTS) --output LEADERBOARD.md --checkpoint-dir runs/leaderboard

bench: setup  ## measure every layer, beside peers that it installs: some minutes, best on an idle machine
	PIP_CONSTRAINT=$(CURDIR)/constraints.txt $(PY) -m pip install --quiet --disable-pip-version-check -e '.[bench]' \
		|| echo 'bench: the peers cannot all be installed here; those that are absent are skipped by name'
	$(PY) -m benchmarks.speed

docs: setup  ## the documentation, into docs/_build, without a warning
	$(PY) -m sphinx -W --keep-going -q docs docs/_build

style: setup
	$(PY) -m ruff check .
	$(PY) -m ruff format --check .

lint: style  ## ruff and mypy
	$(PY) -m mypy

clean:  ## remove what the commands above made, but not runs/
	rm -rf $(VENV) $(LOWEST) .venv-clients build docs/_build docs/generated *.egg-info .pytest_cache .mypy_cache .ruff_cache .hypothesis
