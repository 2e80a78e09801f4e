# Needs Python 3.11 or later and make; everything else is installed into .venv.
PYTHON ?= python3
BIN = .venv/bin

.PHONY: help study explore test warm robots lint types early unit docs fidelity throughput clean

help:  ## list the targets
	@grep -E '^[a-z]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 14

# Python compiles what it imports; to compile all that is installed would take as long again.
# It must be allowed to keep it, or each of the many processes of a test would do it again.
unexport PYTHONDONTWRITEBYTECODE
INSTALL = $(BIN)/python -m pip install --quiet --no-compile

.venv/pip:
	$(PYTHON) -m venv .venv
	$(INSTALL) --upgrade pip
	touch $@

# What users need, and what tests need on top of it.
.venv/usable: pyproject.toml .venv/pip
	$(INSTALL) --editable '.[explore]'
	touch $@

.venv/written: pyproject.toml .venv/pip
	$(INSTALL) --editable '.[docs]'
	touch $@

.venv/installed: pyproject.toml .venv/pip
	$(INSTALL) --editable '.[test]'
	touch .venv/usable .venv/written $@

study: .venv/usable  ## install, run the quick study, and say where its report lies
	$(BIN)/qed study --preset quick --out studies/quick

explore: .venv/usable  ## install, and open the explorer with the archives that come with QED
	$(BIN)/qed explore

# While the simulator is compiled, types are checked and tests run that do not need it; the others
# then find it compiled, for all robots, so that no two processes compile the same.
EARLY = $(patsubst %,tests/%.py,swarm/test_cuda_laws study/test_figures study/test_report \
  paper/test_statements study/test_markdown study/test_browser study/test_tables \
  study/test_selection_bias archive/test_archive archive/test_ribs)
test: .venv/installed  ## install what is needed and run all checks and tests
	@$(MAKE) --no-print-directory --jobs=5 lint types warm robots early
	@QED_WARM=yes $(MAKE) --no-print-directory unit LATER='$(EARLY:%=--ignore=%)'

warm: .venv/installed
	$(BIN)/python tests/warm_up.py

# And Python compiles all tests, or each of the processes that test would do it for itself.
robots: .venv/installed
	$(BIN)/pytest --collect-only -qq >/dev/null
	$(BIN)/python tests/warm_up.py robots

early: .venv/installed
	$(BIN)/pytest --quiet $(EARLY)

lint: .venv/installed  ## check style and format
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: .venv/installed  ## check types
	$(BIN)/mypy

# Some tests wait, so two processes more than cores; with more than four the memory counts.
PROCESSES := $(shell cores=$$(getconf _NPROCESSORS_ONLN); echo $$((cores < 2 ? cores + 2 : 4)))

unit: .venv/installed  ## run the tests
	$(BIN)/pytest --numprocesses=$(PROCESSES) --dist=loadfile --no-loadscope-reorder $(LATER)

docs: .venv/written  ## run the pages, build the site in docs/_build/html, and check it
	rm -rf docs/_build docs/reference/names
	$(BIN)/python -m sphinx --builder html --fail-on-warning --keep-going --nitpicky --quiet --jobs 2 \
	  docs docs/_build/html
	$(BIN)/python docs/check_site.py docs/_build/html

fidelity: .venv/installed  ## compare with recordings of the original simulator
	$(BIN)/python benchmarks/fidelity.py

.venv/releasable: pyproject.toml .venv/installed
	$(INSTALL) --editable '.[release]'
	touch $@

.PHONY: release
release: .venv/releasable  ## build sdist and wheel in dist/, check them, do what the start page says
	$(BIN)/python tools/release.py

throughput: .venv/installed  ## measure the simulator's speed
	$(BIN)/python benchmarks/throughput.py

clean:  ## remove the environment and caches
	rm -rf .venv .mypy_cache .pytest_cache .ruff_cache .hypothesis build dist docs/_build
