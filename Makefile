# Clausebook. The two commands that matter: `make run` and `make test`. `make help` lists the rest.

VENV := .venv
PY := $(VENV)/bin/python
STAMPS := build/stamps
SETUP := packaging/setup
INPUTS := pyproject.toml packaging/constraints-cpu.txt packaging/build_llama.py packaging/locks/llama-source.lock $(SETUP)/install.sh
PYTEST := $(PY) -m pytest

export HF_HUB_OFFLINE := 1
export TOKENIZERS_PARALLELISM := false
export ORT_DISABLE_TELEMETRY := 1

.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
.NOTPARALLEL:
.PHONY: help run test quick lint format models samples evaluate bench coverage package \
        package-quick clean

help:  ## this list
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 16

run: $(STAMPS)/run models  ## install what is missing, then open the application on a sample contract
	@$(SETUP)/run.sh $(VENV)

test: lint models  ## every check and every test
	$(PYTEST) --cov --cov-report=term:skip-covered

quick: $(STAMPS)/test models  ## the tests that need no model and take no time
	$(PYTEST) -q -m "not slow and not model and not gpu"

lint: $(STAMPS)/test  ## format, style, types and the borders between the packages
	$(VENV)/bin/ruff format --check .
	$(VENV)/bin/ruff check .
	$(VENV)/bin/mypy
	$(VENV)/bin/lint-imports

format: $(STAMPS)/test  ## bring the code into its format
	$(VENV)/bin/ruff format .
	$(VENV)/bin/ruff check --fix .

models: $(STAMPS)/run  ## fetch the default models and check them
	@$(PY) packaging/fetch_models.py build/models

samples: $(STAMPS)/test  ## build the sample documents and their questions again
	$(PY) assets/samples/source/build.py

evaluate: $(STAMPS)/test models  ## answers and passages scored against questions with known pages
	$(PY) -m tests.evaluation

bench: $(STAMPS)/test models  ## follow-ups with and without the cache, and restarts
	$(PY) -m desktop_app bench turns
	$(PY) -m desktop_app bench restore
	$(PY) -m tests.benchmarks.bench_followup build/models/SmolLM2-135M-Instruct.Q4_1.gguf

coverage: $(STAMPS)/test models  ## tests with a report of the lines they miss, as HTML in build/
	$(PYTEST) --cov --cov-report=term --cov-report=html:build/coverage

package: $(STAMPS)/system-package models  ## the installable program for this system, tried in clean roots
	packaging/package.sh

package-quick: $(STAMPS)/system-package  ## the same uncompressed, in one clean root
	packaging/package.sh --quick

clean:  ## remove all that was made here; downloaded models and built wheels stay in the user's cache
	rm -rf build dist $(VENV) .pytest_cache .mypy_cache .ruff_cache .import_linter_cache .hypothesis
	rm -f .coverage .coverage.*
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

$(STAMPS)/system-%: $(SETUP)/system_packages.sh
	@mkdir -p $(STAMPS)
	@$(SETUP)/system_packages.sh $*
	@touch $@

$(PY): | $(STAMPS)/system-run
	@python=$$($(SETUP)/find_python.sh) && echo "Making $(VENV) with $$python …" && \
	  "$$python" -m venv $(VENV)

$(STAMPS)/run: $(INPUTS) | $(STAMPS)/system-run $(PY)
	@$(SETUP)/install.sh $(VENV) run
	@touch $@

$(STAMPS)/test: $(INPUTS) | $(STAMPS)/system-test $(PY)
	@$(SETUP)/install.sh $(VENV) test
	@touch $@ $(STAMPS)/run
