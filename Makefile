# Everyday commands of node-remedy. `make` alone lists them.
#
# Every target that runs Python first makes its own virtual environment when there is none, or when
# pyproject.toml changed: a fresh clone needs no other preparation and no root. Variables:
#
#   PYTHON=python3.12   the interpreter the environment is made from (3.11 or newer)
#   VENV=.venv          where the environment lives
#   ARGS="…"            more arguments for the command behind lab, test, e2e, sim, soak and bench
#   WORKERS=2           processes that `make test` and `make e2e` are spread over, file by file
#   SEED=1              which simulated history `make sim` runs
#   FUZZ=1              which examples `make fuzz` tries; without it others each time
#   SEEDS, LARGE, FLEETS, FENCES   how many histories of 50 nodes, of 1,000 nodes, of fleets and of fenced clusters `make soak` runs

SHELL := bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help

PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.installed
WORKERS ?= 2
SEED ?= 1
SEEDS ?= 2000
LARGE ?= 100
FLEETS ?= 100
FENCES ?= 2000
FUZZ ?= $(shell date +%s)
FUZZED := tests/wire tests/drivers tests/manager tests/cli tests/core/fencing
ARGS ?=

.PHONY: help setup check test e2e lab sim sample fuzz soak bench generate fmt

help: ## List the commands
	@echo "node-remedy: make COMMAND [PYTHON=…] [ARGS=…]"
	@echo
	@awk -F ':.*## ' '/^[a-z0-9]+:.*## / { printf "  make %-10s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

setup: $(STAMP) ## Make the virtual environment (every other command does it by itself)

lab: $(STAMP) ## Watch a node die and be repaired, on a simulated cluster on this machine (ARGS="--nodes 30")
	$(BIN)/node-remedy lab $(ARGS)

check: $(STAMP) ## Look without running: ruff, mypy, import contracts, tidiness, generated files
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/pytest -q tests/test_architecture.py tests/test_tidy.py tests/test_docs.py
	$(BIN)/python scripts/generate.py --check

# The tests start hundreds of processes: where the surroundings forbid Python to keep compiled code, each of them would
# spend half of its time on compiling.
test: $(STAMP) ## All tests that need only Python packages; ten minutes on two cores (ARGS="-k annotation")
	env -u PYTHONDONTWRITEBYTECODE $(BIN)/pytest -m 'not e2e and not soak' -n $(WORKERS) --dist loadfile --no-loadscope-reorder $(ARGS)

# Packages are installed where that is possible and named where it is not; what is still missing afterwards
# shows as a skip, by name, in the summary at the end. With CI=true a skip is a failure (tests/conftest.py).
e2e: $(STAMP) ## Tests against real devices and a real Kubernetes control plane: 35 minutes, and 17 once to build it
	bash scripts/e2e-packages
	$(BIN)/pip install --quiet --disable-pip-version-check --editable '.[dev,e2e]' || echo "e2e: some devices are missing" >&2
	$(BIN)/python scripts/controlplane/build.py
	$(BIN)/pytest -m e2e -n $(WORKERS) --dist loadfile --no-loadscope-reorder $(ARGS)

sim: $(STAMP) ## One simulated history with all checkers on (SEED=7)
	$(BIN)/python -m noderemedy.sim run --seed $(SEED) $(ARGS)

# With the simulations of `make test` these are the ten minutes of them that every change goes through.
sample: $(STAMP) ## The first 60 histories of `make soak` with 50 nodes, and the first 60 of fencing; six minutes on two cores
	$(BIN)/python -m noderemedy.sim soak --seeds 60 --nodes 50 --hours 6
	$(BIN)/python -m noderemedy.sim soak --fencing --seeds 60 --nodes 20 --hours 6

# Properties of whatever reads text of devices and people: 2,000 examples each at least, and each may take its time.
fuzz: $(STAMP) ## Garbage for every reader, other garbage each time; the seed is in the printed command (FUZZ=7 repeats it)
	$(BIN)/pytest -m hypothesis --hypothesis-profile=rotating --hypothesis-seed=$(FUZZ) --timeout=3600 $(FUZZED) $(ARGS)

soak: $(STAMP) ## Crash points, 2,000 simulated histories of 50 nodes, 100 of 1,000, fleets, 2,000 of fencing; hours on two cores (SEEDS=50 LARGE=2 FENCES=50)
	$(BIN)/python -m noderemedy.sim crash
	$(BIN)/python -m noderemedy.sim soak --seeds $(SEEDS) --nodes 50 --hours 6 $(ARGS)
	$(BIN)/python -m noderemedy.sim soak --seeds $(LARGE) --first 100001 --nodes 1000 --hours 6 $(ARGS)
	$(BIN)/python -m noderemedy.sim fleet --seeds $(FLEETS)
	$(BIN)/python -m noderemedy.sim soak --fencing --seeds $(FENCES) --nodes 20 --hours 6 $(ARGS)
	$(BIN)/pytest -m soak
	$(MAKE) fuzz FUZZ=$(FUZZ)

bench: $(STAMP) ## Measure, beside a bare watch: heartbeats, latencies, storms, requests, at 500 and 5,000 nodes
	$(BIN)/python scripts/bench.py $(ARGS)

generate: $(STAMP) ## Rewrite what is generated from the code (CRDs, RBAC, diagrams)
	$(BIN)/python scripts/generate.py

fmt: $(STAMP) ## Format the code and apply the safe repairs of the linter
	$(BIN)/ruff check --fix-only .
	$(BIN)/ruff format .

# The stamp is written last, so an interrupted installation is taken up again by the next command.
$(STAMP): pyproject.toml
	@command -v $(PYTHON) >/dev/null || { \
	  echo "There is no '$(PYTHON)' here. Install Python 3.11 or newer." >&2; \
	  echo "If it is installed under another name, say so: make PYTHON=python3.12 …" >&2; exit 1; }
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { \
	  echo "'$(PYTHON)' is $$($(PYTHON) --version 2>&1); node-remedy needs Python 3.11 or newer." >&2; \
	  echo "Install one and name it: make PYTHON=python3.12 …" >&2; exit 1; }
	@if [ ! -x $(BIN)/pip ]; then \
	  echo "Making the virtual environment $(VENV) with $$($(PYTHON) --version); this takes about half a minute."; \
	  $(PYTHON) -m venv $(VENV) || { \
	    echo "'$(PYTHON) -m venv' failed. On Debian and Ubuntu: apt install python3-venv" >&2; exit 1; }; \
	fi
	@$(BIN)/pip install --quiet --disable-pip-version-check --editable '.[dev]'
	@touch $(STAMP)
