# make demo: the main job on a recorded fleet.  make test: the tests.  Everything else serves those two.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
# tests wait for servers half of their time
WORKERS ?= $(shell $(PYTHON) -c 'import os; print(2 * (os.cpu_count() or 1))')
PIP := $(BIN)/pip install --quiet --disable-pip-version-check

.PHONY: demo test test-controllers check coverage bench lock clean
.DEFAULT_GOAL := demo

$(VENV)/.run: requirements.lock pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "wm-place needs Python 3.11 or newer: make PYTHON=python3.12 …")'
	$(PYTHON) -m venv $(VENV)
	$(PIP) --require-hashes --requirement requirements.lock
	$(PIP) --no-deps --no-build-isolation --editable .
	@touch $@

$(VENV)/.dev: $(VENV)/.run requirements-dev.lock
	$(PIP) --require-hashes --requirement requirements-dev.lock
	@touch $@

demo: $(VENV)/.run
	@$(BIN)/wm-place --clusters scenarios/demo/clusters.yaml scenarios/demo/train.yaml

test: $(VENV)/.dev
	@$(BIN)/pytest --quiet --numprocesses $(WORKERS)

# some manifests of each kind, all of them with ALL=1; and what makes the same comparison for users
test-controllers: $(VENV)/.dev
	@$(BIN)/pytest --quiet -m controllers tests/judges tests/cli/test_judged_live.py $(if $(ALL),--all-manifests)

# docs/coverage.md, from the corpus and from what the controllers said last
coverage: $(VENV)/.dev
	@$(BIN)/python -m tests.coverage

check: $(VENV)/.dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

bench: $(VENV)/.dev
	@$(BIN)/python -m benchmarks

lock: $(VENV)/.run
	$(BIN)/pip install --quiet uv
	$(BIN)/uv pip compile --quiet --universal --python-version 3.11 --generate-hashes --no-emit-index-url --no-emit-find-links --no-header --upgrade pyproject.toml --group build --output-file requirements.lock
	$(BIN)/uv pip compile --quiet --universal --python-version 3.11 --generate-hashes --no-emit-index-url --no-emit-find-links --no-header pyproject.toml --group build --group dev --constraint requirements.lock --output-file requirements-dev.lock

clean:
	rm -rf $(VENV) .pytest_cache .mypy_cache .ruff_cache .hypothesis build dist
