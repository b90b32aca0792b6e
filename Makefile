# Every target sets up what it needs, in .venv, and again only when pyproject.toml or
# constraints.txt have changed.

PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin
PIP    := $(BIN)/python -m pip --disable-pip-version-check -qq
INSTALL = $(PIP) install --prefer-binary --constraint constraints.txt
STAMP  := $(VENV)/.stamp
# What compiles: meson, ninja and cython are wheels, and so is a C compiler where there is none.
BUILDING = PATH="$(CURDIR)/$(BIN):$$PATH"; export PATH; eval "$$($(BIN)/python tools/compiler.py)"
# Other tools that benchmarks run; they pin older versions of what sfumato uses.
PEERS  := .venv-peers
# What looks at releases; of these tools nothing is built or released.
RELEASE := .venv-release

# Workers of the tests: one more than two processors, as tests of servers and browsers wait. A worker takes
# whole files, so that what the tests of a file share is made once.
PYTEST_ARGS ?= --numprocesses 3 --dist loadfile --no-loadscope-reorder
# The program is started hundreds of times, and an editable installation keeps no module that it compiles:
# they are compiled once, as a wheel's are.
COMPILED = $(BIN)/python -m compileall -qq -j 0 src studies
# Those of the tests are kept, whatever the environment says.
export PYTHONDONTWRITEBYTECODE :=
# Where the study finds the papers' data sets.
DATA ?= $(wildcard ../shared/data)
NAME ?= kartal-li-2020
# What a bundle has beside the core; EXTRAS= for nothing.
EXTRAS ?= all

.DEFAULT_GOAL := help
.NOTPARALLEL:
.PHONY: help demo test test-slow test-bounds check format bench bench-spark docs dist bundle release-check wheels study clean

help: ## list these targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "make %-13s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

demo: $(STAMP)-demo ## a whole project: two clinics linked, reviewed, released, attacked, reported
	@$(BIN)/sfumato demo

test: $(STAMP)-test ## run the tests, but for those that are slow
	@$(COMPILED)
	@$(BIN)/python -m pytest $(PYTEST_ARGS) -m "not slow"

test-slow: $(STAMP)-test ## run the slow tests: Spark, whole projects, real data; CI runs them, too
	@$(COMPILED)
	@$(BIN)/python -m pytest $(PYTEST_ARGS) -m slow
	@$(BIN)/python tools/constants.py check

test-bounds: $(STAMP)-test ## run the tests of the loops with every index checked
	@$(BUILDING); $(BIN)/python tools/check_bounds.py

check: $(STAMP)-check ## format, lint, types, order and grain of the rooms, docstrings, words, documentation
	@echo "format";             $(BIN)/ruff format --quiet --check . || { $(BIN)/ruff format --diff --quiet .; exit 1; }
	@echo "lint";               $(BIN)/ruff check --quiet .
	@echo "types";              $(BIN)/mypy --no-error-summary
	@echo "types of tools";     $(BIN)/mypy --no-error-summary tools benchmarks studies
	@echo "order of the rooms"; $(BIN)/python tools/check_rooms.py
	@echo "grain of the modules"; $(BIN)/python tools/check_grain.py
	@echo "docstrings";         $(BIN)/python tools/check_docstrings.py src studies
	@echo "words";              $(BIN)/python tools/check_words.py
	@$(MAKE) --no-print-directory docs

format: $(STAMP)-check ## format the code and mend what ruff can mend
	@$(BIN)/python tools/publication.py
	@$(BIN)/ruff check --quiet --fix-only .
	@$(BIN)/ruff format .

bench: $(STAMP)-bench ## times as ratios to a sort, to DuckDB and to other tools, on this machine
	@$(MAKE) --no-print-directory $(PEERS)/.stamp || echo "the other tools cannot be installed here: left out"
	@$(BIN)/python benchmarks/run.py

bench-spark: $(STAMP)-bench-spark ## what Spark takes at 1 and 10 million records (SPARK_ARGS="--records 100000000")
	@command -v java >/dev/null || { \
	  echo "Spark needs Java 17 or newer; Debian has it as default-jre-headless." >&2; exit 1; }
	@$(BIN)/python benchmarks/spark.py $(SPARK_ARGS)

docs: $(STAMP)-check ## build the documentation in build/docs
	@echo "documentation"
	@$(BIN)/sphinx-build --quiet --fail-on-warning --keep-going --fresh-env -b html docs build/docs
	@$(BIN)/python tools/check_offline.py build/docs

dist: $(STAMP)-dist ## sdist and wheel in dist, tried in an empty environment
	@rm -rf dist
	@$(BUILDING); $(BIN)/python -c 'import mesonpy; mesonpy.build_sdist("dist")' >/dev/null
	@$(BUILDING); $(PIP) wheel --no-deps --no-build-isolation --wheel-dir dist dist/*.tar.gz
	@$(BIN)/python tools/check_wheel.py dist/*.whl

bundle: $(STAMP)-dist ## one archive in dist to install from without a network (EXTRAS=report,review; all if not given)
	@$(BIN)/python tools/bundle.py dist "$(EXTRAS)"

release-check: $(STAMP)-dist $(RELEASE)/.stamp ## the steps of a release that can run here
	@ls dist/*.whl >/dev/null 2>&1 || $(MAKE) --no-print-directory dist
	@$(RELEASE)/bin/python tools/release_check.py $(RELEASE_ARGS)

wheels: $(STAMP)-wheels ## wheels for Linux on x86-64 and arm64 in dist; the loops compiled for macOS and Windows
	@PATH="$(CURDIR)/$(BIN):$$PATH" $(BIN)/python tools/wheels.py dist

study: $(STAMP)-demo ## the tables of a paper again (NAME=kartal-li-2020, DATA=folder)
	@$(BIN)/python -m studies $(NAME) $(if $(DATA),--data "$(DATA)")

clean: ## remove what these targets have made, .venv included
	rm -rf $(VENV) $(PEERS) $(RELEASE) build dist .pytest_cache .mypy_cache .ruff_cache .hypothesis .import_linter_cache
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

$(STAMP)-venv:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null || { \
	  echo "sfumato needs Python 3.11 or newer; '$(PYTHON)' is not." >&2; \
	  echo "Name another one: make $(or $(MAKECMDGOALS),demo) PYTHON=python3.12" >&2; exit 1; }
	@echo "creating $(VENV)"
	@$(PYTHON) -m venv --clear $(VENV) || { \
	  echo "Python's venv module is missing; Debian and Ubuntu have it as python3-venv." >&2; exit 1; }
	@$(INSTALL) --upgrade pip
	@touch $@

$(STAMP)-build: $(STAMP)-venv pyproject.toml constraints.txt
	@$(INSTALL) --group dist
	@$(BIN)/python tools/compiler.py --found || { \
	  echo "no C compiler: installing one in $(VENV)"; $(INSTALL) --group compiler; }
	@touch $@

# Without isolation, so that an import builds again what has changed in the loops.
$(STAMP)-%: $(STAMP)-build meson.build
	@echo "installing what 'make $*' needs"
	@$(BUILDING); $(INSTALL) --no-build-isolation $(WANTS_$*)
	@$(COMPILED)
	@touch $@

$(PEERS)/.stamp: benchmarks/peers.txt
	@echo "creating $(PEERS)"
	@$(PYTHON) -m venv --clear $(PEERS)
	@$(PEERS)/bin/python -m pip --disable-pip-version-check -qq install --prefer-binary \
	  --requirement benchmarks/peers.txt
	@touch $@

$(RELEASE)/.stamp: $(STAMP)-venv pyproject.toml
	@echo "creating $(RELEASE)"
	@$(PYTHON) -m venv --clear $(RELEASE)
	@$(RELEASE)/bin/python -m pip --disable-pip-version-check -qq install --upgrade pip
	@$(RELEASE)/bin/python -m pip --disable-pip-version-check -qq install --group release
	@touch $@

WANTS_demo  := --editable '.[link,report,review]'
WANTS_test  := --editable '.[all]' --group test
WANTS_check := --editable '.[all]' --group check
WANTS_dist  := --group dist
WANTS_wheels := --group wheels
WANTS_bench := --editable '.[link,report]' --group bench
WANTS_bench-spark := --editable '.[spark]' --group bench

.PRECIOUS: $(STAMP)-%
