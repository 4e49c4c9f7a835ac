# SPDX-License-Identifier: Apache-2.0
# `make help` says what there is. Each target stands alone: it sets up and builds what it needs.
.DEFAULT_GOAL := help
SHELL := /bin/bash
.SHELLFLAGS := -eu -o pipefail -c
MAKEFLAGS += --no-print-directory

BUILD_DIR ?= build
SANITIZE_DIR ?= build/sanitize
JOBS ?= $(shell nproc)
# ON makes the compilers' warnings errors; empty leaves a build folder as it was configured.
WERROR ?=
# ON builds the benchmarks too; empty leaves a build folder as it was configured.
BENCHMARKS ?=
# What `make build` builds.
TARGETS ?= all
# Seconds that each fuzz target runs in `make fuzz`.
FUZZ_SECONDS ?= 600

PYTHON_BIN := .venv/bin/python
# Asked for only where it is used, after setup has installed it.
CLANGXX ?= $(shell scripts/setup.sh print-clang)
# Real programs beside the checkout are tested where they are; their types come from transformers.
MODELS := $(wildcard ../shared/models/index.json)
TEST_GROUPS := system base $(if $(MODELS),models)

WERROR_FLAG = $(if $(WERROR),-DWINZE_WERROR=$(WERROR))
# AUTO builds what runs programs where .venv has PyTorch, ON insists on it, OFF leaves it out.
WINZE_TORCH ?= ON
# The same sources as one in all builds, so that names are in each other's way in all or in none.
UNITY_FLAGS = -DCMAKE_UNITY_BUILD=ON -DCMAKE_UNITY_BUILD_BATCH_SIZE=12
RELEASE_FLAGS = -DCMAKE_BUILD_TYPE=Release -DWINZE_BUILD_TESTS=ON -DWINZE_TORCH=$(WINZE_TORCH) \
	-DWINZE_PRECOMPILE_HEADERS=ON $(UNITY_FLAGS) $(WERROR_FLAG) \
	$(if $(BENCHMARKS),-DWINZE_BUILD_BENCHMARKS=$(BENCHMARKS))
# gline-tables-only: stack traces with lines at a fraction of the size.
PYTHON_FLAGS = -DWINZE_BUILD_PYTHON=ON -DPython_EXECUTABLE=$(CURDIR)/$(PYTHON_BIN)
SANITIZE_FLAGS = -DCMAKE_BUILD_TYPE=Debug -DCMAKE_CXX_FLAGS_DEBUG="-O1 -gline-tables-only" \
	-DCMAKE_CXX_COMPILER=$(CLANGXX) -DCMAKE_C_COMPILER=$(subst ++,,$(CLANGXX)) -DWINZE_SANITIZE=address,undefined \
	-DWINZE_BUILD_FUZZERS=ON -DWINZE_TORCH=OFF $(UNITY_FLAGS) $(WERROR_FLAG)

# Compiling PyTorch's Python sources takes 10 seconds; some environments have each process do so anew.
unexport PYTHONDONTWRITEBYTECODE

export ASAN_OPTIONS ?= detect_leaks=1:detect_stack_use_after_return=1:strict_string_checks=1
export UBSAN_OPTIONS ?= print_stacktrace=1

# Configures only where the folder is new or WERROR is named; otherwise ninja sees to it.
define configure
	@if [ ! -f $(1)/build.ninja ] || [ -n "$(WERROR)" ]; then \
	  cmake -S . -B $(1) -G Ninja $(2) > $(1)/configure.log 2>&1 || { cat $(1)/configure.log; exit 1; }; \
	fi
endef

.PHONY: help setup build python test unit-tests text-tests python-tests update-text-tests demo bench \
	format style lint sanitize fuzz clean

help: ## Says what there is (this text)
	@echo "Winze lowers PyTorch programs. Targets, each of which sets up what it needs:"
	@echo
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "  make %-18s %s\n", $$1, $$2}' $(MAKEFILE_LIST)
	@echo
	@echo "After a build the command is $(BUILD_DIR)/bin/winze; try $(BUILD_DIR)/bin/winze --help."
	@echo "Variables: BUILD_DIR=$(BUILD_DIR) JOBS=$(JOBS) WERROR=ON FUZZ_SECONDS=$(FUZZ_SECONDS) PYTHON=python3.12"

setup: ## Installs all that any target needs: system packages, and Python packages into .venv
	@scripts/setup.sh system clang base models lint

build: ## Builds the command and the unit tests (Release)
	@scripts/setup.sh system $(if $(filter OFF,$(WINZE_TORCH)),,base)
	@mkdir -p $(BUILD_DIR)
	$(call configure,$(BUILD_DIR),$(RELEASE_FLAGS))
	@cmake --build $(BUILD_DIR) -j $(JOBS) --target $(TARGETS)

python: ## Builds the Python package; `PYTHONPATH=build/python` makes it importable
	@scripts/setup.sh system base
	@mkdir -p $(BUILD_DIR)
	$(call configure,$(BUILD_DIR),$(RELEASE_FLAGS) $(PYTHON_FLAGS))
	@if ! grep -q '^WINZE_BUILD_PYTHON:BOOL=ON' $(BUILD_DIR)/CMakeCache.txt; then cmake $(BUILD_DIR) $(PYTHON_FLAGS) > /dev/null; fi
	@cmake --build $(BUILD_DIR) -j $(JOBS) --target winze_python

test: ## Builds, then runs every test: unit, text, end to end
	@scripts/setup.sh $(TEST_GROUPS)
	@$(MAKE) unit-tests
	@$(MAKE) text-tests
	@$(MAKE) python-tests

unit-tests: build ## Runs the C++ unit tests
	@ctest --test-dir $(BUILD_DIR) -j $(JOBS) --output-on-failure --progress

text-tests: build ## Runs the text tests: *.wz files beside the code
	@scripts/setup.sh base
	@.venv/bin/lit -v --param build_dir=$(BUILD_DIR) tests

python-tests: build python ## Runs the end-to-end tests
	@scripts/setup.sh $(TEST_GROUPS)
	@OMP_NUM_THREADS=1 WINZE_BUILD_DIR=$(BUILD_DIR) $(PYTHON_BIN) -m pytest -n $(JOBS)

update-text-tests: build ## Writes the expected text of the text tests anew, to be read in review
	@scripts/setup.sh base
	@$(PYTHON_BIN) scripts/update_checks.py --build-dir $(BUILD_DIR)

demo: ## Exports a model, lowers it, shows what each pass did and that PyTorch loads it
	@scripts/setup.sh system base models
	@$(MAKE) build TARGETS="winze_command winze_torch_module"
	@$(PYTHON_BIN) scripts/demo.py --build-dir $(BUILD_DIR)

bench: ## Measures the budget's rows, and beside each the same work in PyTorch's Python
	@scripts/setup.sh system base models
	@mkdir -p build/bench
	$(call configure,build/bench,$(RELEASE_FLAGS) -DWINZE_BUILD_TESTS=OFF -DWINZE_BUILD_BENCHMARKS=ON)
	@cmake --build build/bench -j $(JOBS)
	@$(MAKE) python
	@$(PYTHON_BIN) bench/run.py --build-dir build/bench --package $(BUILD_DIR)/python

format: ## Formats C++ and Python
	@scripts/setup.sh lint
	@git ls-files -co --exclude-standard -- '*.h' '*.cpp' | xargs -r .venv/bin/clang-format -i
	@.venv/bin/ruff check --fix --quiet .
	@.venv/bin/ruff format --quiet .

style: ## Formatting, ruff, mypy, include directions, SPDX lines, file lengths
	@scripts/setup.sh system base lint
	@$(PYTHON_BIN) scripts/check_sources.py
	@git ls-files -co --exclude-standard -- '*.h' '*.cpp' | xargs -r .venv/bin/clang-format --dry-run -Werror
	@.venv/bin/ruff check --quiet .
	@.venv/bin/ruff format --check --quiet .
	@.venv/bin/mypy

lint: style ## The style checks, warnings as errors, clang-tidy
	@$(MAKE) build WERROR=ON BENCHMARKS=ON
	@$(PYTHON_BIN) scripts/run_tidy.py --build-dir $(BUILD_DIR) -j $(JOBS)

sanitize: ## Unit and text tests and a short fuzz run under AddressSanitizer and UBSan
	@scripts/setup.sh system clang base
	@$(MAKE) sanitize-build
	@ctest --test-dir $(SANITIZE_DIR) -j $(JOBS) --output-on-failure --progress
	@.venv/bin/lit -v --param build_dir=$(SANITIZE_DIR) tests
	@$(PYTHON_BIN) scripts/run_fuzzers.py --build-dir $(SANITIZE_DIR) --short -j $(JOBS)

fuzz: ## Runs every fuzz target for FUZZ_SECONDS under the sanitizers
	@scripts/setup.sh system clang base
	@$(MAKE) sanitize-build
	@$(PYTHON_BIN) scripts/run_fuzzers.py --build-dir $(SANITIZE_DIR) --seconds $(FUZZ_SECONDS) -j $(JOBS)

.PHONY: sanitize-build
sanitize-build:
	@mkdir -p $(SANITIZE_DIR)
	$(call configure,$(SANITIZE_DIR),$(SANITIZE_FLAGS))
	@cmake --build $(SANITIZE_DIR) -j $(JOBS)

clean: ## Removes what was built; .venv stays
	@rm -rf build
