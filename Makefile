# The commands of the README. Everything stands on `snakemake` and `pytest`; nothing works through make alone.
#   make demo     install, run the whole workflow on the demo inputs, say where the page is
#   make test     install what tests need besides, run them
#   make dev      install what tests, linters and notebooks need
#   make test-slurm   the tests on a real Slurm, which is started on this machine and stopped (root, Debian)
#   make test-browser   the tests of the report in Chromium, of the demo's results (or of RESULTS=folder)
#   make why      for each job that would run: why
#   make certify  run every method on problems with planted truth (an hour), write resources/certificate
#   make compare BASE=folder HEAD=folder   what changed between two results, and what moved; GATES=file
# A config of your own:  make demo CONFIG=my.yaml  (or snakemake --configfile my.yaml --cores 2)

SHELL := /bin/bash
PYTHON ?= $(shell command -v python3.11 || command -v python3)
CORES ?= 2
CONFIG ?=
VENV := .venv
BIN := $(VENV)/bin
READY := $(VENV)/.ready
DEV := $(VENV)/.dev
# the target stands first: --configfile and --quiet take all words that follow them
SNAKEMAKE := $(BIN)/snakemake all --cores $(CORES) $(if $(CONFIG),--configfile $(CONFIG))
# a file that Snakemake could not read without a traceback
CHECK = $(BIN)/python -m evenhand.plan --check $(or $(CONFIG),config/config.yaml)
RUFF_PATHS := workflow tests benchmarks
export PATH := $(CURDIR)/$(BIN):$(PATH)

.PHONY: certify dev demo slurm test test-slurm test-browser why compare cache-list cache-prune lint format docs lock install help

help:
	@sed -n 's/^#   //p' Makefile

install: $(READY)

dev: $(DEV)

$(READY): requirements/install.sh $(wildcard requirements/*.txt) requirements/requirements.lock
	@bash requirements/install.sh "$(PYTHON)" $(VENV)

$(DEV): $(READY) requirements/dev.lock
	@bash requirements/install.sh "$(PYTHON)" $(VENV) dev.lock

demo: $(READY)
	@$(CHECK)
	@EVENHAND_REPORT=results/report/index.html $(BIN)/python workflow/warm.py $(SNAKEMAKE) --logger evenhand $(if $(VERBOSE),--verbose)
	@$(BIN)/python -m evenhand.plan $(or $(CONFIG),config/config.yaml)

test: $(DEV)
	@$(BIN)/pytest -n $(CORES) --dist worksteal

slurm: $(DEV)
	@$(BIN)/python -c "import snakemake_executor_plugin_slurm" 2>/dev/null || bash requirements/install.sh "$(PYTHON)" $(VENV) slurm.txt

# a process for each file: they wait for Slurm, not for the processor
test-slurm: slurm
	@$(BIN)/pytest -n 4 --dist loadfile tests/slurm

# leaves pictures of the pages in .screenshots
test-browser: $(DEV)
	@$(BIN)/pytest -n $(CORES) --dist worksteal tests/browser $(if $(RESULTS),--results "$(RESULTS)")

why: $(READY)
	@$(CHECK)
	@$(BIN)/python -m evenhand.core.why $(if $(CONFIG),--configfile $(CONFIG))

# make exits 2 whatever fails; a gate of continuous integration calls the command itself
compare: $(READY)
	@test -n "$(BASE)" -a -n "$(HEAD)" || { echo "error: name both folders: make compare BASE=results_before HEAD=results" >&2; exit 2; }
	@$(BIN)/python -m evenhand compare "$(BASE)" "$(HEAD)" $(if $(GATES),--gates "$(GATES)")

# models and scores are kept in results/.evenhand/certify, so that a run that was stopped goes on;
# some problems alone (PROBLEMS="language_models tables") leave the rows of the others as they are
CERTIFICATE = resources/certificate
certify: $(READY)
	@$(BIN)/python -m evenhand.core.run certificates.certify --resources resources --out $(CERTIFICATE) --seeds $(or $(SEEDS),5) --work results/.evenhand/certify $(if $(PROBLEMS),--problems $(PROBLEMS) --former $(CERTIFICATE))
	@$(BIN)/python -m evenhand.certificates.check $(CERTIFICATE)

cache-list: $(READY)
	@$(BIN)/python -m evenhand.core.cache list $(or $(FOLDER),results/.evenhand/cache)

cache-prune: $(READY)
	@$(BIN)/python -m evenhand.core.cache prune $(or $(FOLDER),results/.evenhand/cache) --megabytes $(or $(MEGABYTES),1000)

lint: $(DEV)
	@ruff format --check $(RUFF_PATHS)
	@ruff check $(RUFF_PATHS)
	@snakefmt --check Snakefile workflow/rules
	@snakemake --lint

docs: $(READY)
	@python workflow/config_reference.py > docs/config.md

format: $(DEV)
	@ruff format $(RUFF_PATHS)
	@ruff check --fix $(RUFF_PATHS)
	@snakefmt Snakefile workflow/rules

lock:
	@bash requirements/lock.sh
