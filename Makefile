# `make` lists the verbs.
.DEFAULT_GOAL := help
PYTHON ?= python3
VENV := .venv
OLDEST := .venv-oldest
SANITIZE := .venv-sanitize
BIN := $(VENV)/bin
SOURCES := pyproject.toml CMakeLists.txt $(shell find cpp -type f)
INSTALL := $(BIN)/python -m pip install --quiet --disable-pip-version-check --editable
ISA := --config-settings=cmake.define.DECIBAN_ISA_ONLY
# Python with the sanitizers loaded first; what it prints of a finding goes past pytest (`--capture=sys`)
SANITIZED := LD_PRELOAD="$$(g++ -print-file-name=libasan.so) $$(g++ -print-file-name=libstdc++.so)" PYTHONMALLOC=malloc \
	ASAN_OPTIONS=detect_leaks=0:allocator_may_return_null=1 UBSAN_OPTIONS=print_stacktrace=1 $(SANITIZE)/bin/python
# what the demo needs: all that the tests need, where that is installed already
DEMO := $(VENV)/$(if $(wildcard $(VENV)/installed),installed,demo)

.PHONY: help demo test test-fast test-oldest faults fuzz sanitize check docs bench scaling quality clean

help:  ## list the verbs
	@grep -E '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/^([a-z-]+):.*## /  make \1\t/' | expand -t 20

$(BIN)/python:
	@echo "step 1 of 3: creating the virtual environment $(VENV)"
	@$(PYTHON) -m venv $(VENV)

$(VENV)/demo: $(SOURCES) | $(BIN)/python
	@echo "step 2 of 3: installing packages, and compiling the kernels for this processor (about half a minute)"
	@$(INSTALL) '.[all]' $(ISA)=native
	@touch $@

$(VENV)/installed: $(SOURCES) | $(BIN)/python
	@echo "step 2 of 3: installing what tests, checks and benchmarks need, and compiling the kernels (a few minutes the first time)"
	@$(INSTALL) '.[test,test-engines,check,bench]' $(ISA)=
	@touch $@

$(VENV)/docs: $(SOURCES) | $(BIN)/python
	@echo "step 2 of 3: installing what the site needs, and compiling the kernels for this processor (a minute the first time)"
	@$(INSTALL) '.[docs]' $(ISA)=$(if $(wildcard $(VENV)/installed),,native)
	@touch $@

demo: $(DEMO)  ## the tour: tennis, a real table, a race, texts, a report
	@echo "step 3 of 3: the tour"
	@$(BIN)/python -m deciban demo

test: $(VENV)/installed  ## all tests
	@echo "step 3 of 3: the tests"
	$(BIN)/python -m pytest -n 2 --dist worksteal

test-fast: $(VENV)/installed  ## the tests that take little time
	DECIBAN_EXAMPLES=4 $(BIN)/python -m pytest -n 2 --dist worksteal -m "not (slow or spark or dask or browser)" tests

test-oldest:  ## the tests that take little time, with the oldest supported versions of the dependencies
	test -x $(OLDEST)/bin/python || $(PYTHON) -m venv $(OLDEST)
	$(OLDEST)/bin/python -m pip install --quiet --disable-pip-version-check -e '.[test]' -c tests/oldest.txt $(ISA)=
	DECIBAN_EXAMPLES=4 $(OLDEST)/bin/python -m pytest -n 2 --dist worksteal -m "not (slow or spark or dask or browser)" tests

faults: $(VENV)/installed  ## failed writes, full disks, kills, several writers, changing files and little memory, by the hundreds
	$(BIN)/python -m tests.faults all

fuzz: $(VENV)/installed  ## seeded random inputs for readers, model files, mails, sparse matrices, commands and compiled functions
	$(BIN)/python -m tests.fuzz all

sanitize:  ## laws and attacks of the compiled functions, and some random inputs, under the sanitizers of addresses and undefined behaviour
	@echo "step 1 of 3: compiling with the sanitizers in $(SANITIZE) (a few minutes)"
	@test -x $(SANITIZE)/bin/python || $(PYTHON) -m venv $(SANITIZE)
	@CXX=g++ $(SANITIZE)/bin/python -m pip install --quiet --disable-pip-version-check -e '.[all]' hypothesis pytest pytest-xdist \
		--config-settings=build-dir=build/sanitize --config-settings=cmake.build-type=RelWithDebInfo \
		--config-settings=cmake.define.DECIBAN_SANITIZE=ON
	@echo "step 2 of 3: laws and attacks"
	@DECIBAN_EXAMPLES=4 $(SANITIZED) -m pytest -n 2 --capture=sys tests/laws/test_compiled_*.py tests/test_instruction_sets.py \
		tests/attacks/test_crashes.py --deselect tests/attacks/test_crashes.py::test_c4_no_function_ends_the_process
	@echo "step 3 of 3: a tenth of the random inputs of make fuzz"
	@$(SANITIZED) -m tests.fuzz all --share 0.1

check: $(VENV)/installed  ## ruff, format, mypy, import contract, bandit
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/bandit -q -r src -ll

docs: $(VENV)/docs  ## the site of the documentation, in build/docs/html; its code runs, warnings are errors
	@echo "step 3 of 3: running the code of the pages and the gallery, and building the pages"
	$(BIN)/python -m sphinx -q -W --keep-going -b html -d build/docs/doctrees docs build/docs/html
	$(BIN)/python docs/check_site.py build/docs/html

bench: $(VENV)/installed  ## benchmark against other libraries in one process; writes bench/results and the tables
	$(BIN)/python -m bench
	$(BIN)/python -m bench.logistic
	$(BIN)/python -m bench.text
	$(BIN)/python -m bench.text_classifier

scaling: $(VENV)/installed  ## race fits on Spark, Dask and files against Spark ML, dask-ml and scikit-learn
	$(BIN)/python -m bench.engines

quality: $(VENV)/installed  ## compare the probabilities on the shared tables; writes bench/results and bench/QUALITY.md
	$(BIN)/python -m bench.quality_tables
	$(BIN)/python -m bench.quality_weights
	$(BIN)/python -m bench.quality_structure
	$(BIN)/python -m bench.quality_text
	$(BIN)/python -m bench.quality_text_losses

clean:  ## remove everything that was built
	rm -rf $(VENV) $(OLDEST) $(SANITIZE) build dist docs/generated docs/lectures/gallery docs/reference/generated .pytest_cache .mypy_cache .ruff_cache .hypothesis .import_linter_cache
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
