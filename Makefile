# Two commands do everything on a fresh machine: `make serve` and `make test`.
.DEFAULT_GOAL := help
SHELL := /bin/bash
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
READY := $(VENV)/.ready
PEERS := $(VENV)/mcp-peers/.tried

.PHONY: help setup serve test lint types layers unit soak bench docs lock clean

help: ## list every target
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "  make %-8s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

setup: $(READY) ## create .venv from requirements.lock and check the system's part

$(READY): requirements.lock pyproject.toml scripts/setup
	@scripts/setup $(PYTHON) $(VENV)
	@touch $(READY)

$(PEERS): scripts/mcp-peers scripts/framework-peers $(READY)
	@scripts/mcp-peers $(VENV) || echo "scripts/mcp-peers failed; what is tested against them is left out." >&2
	@scripts/framework-peers $(VENV) || echo "scripts/framework-peers failed; two examples are not tested." >&2
	@mkdir -p $(@D) && touch $@

serve: $(READY) ## serve pages, API and MCP on http://127.0.0.1:8321, at first with a sample history to look at
	@$(BIN)/skillyard demo --sample || true # without it there is less to look at
	@$(BIN)/skillyard serve

test: $(READY) $(PEERS) lint layers ## lint, import layers, types and every test: what CI runs
	@$(MAKE) --no-print-directory --jobs=2 types unit # pyright takes one core for a minute or two

lint: $(READY) ## ruff: rules and format
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: $(READY) ## pyright, strict on src
	$(BIN)/pyright

layers: $(READY) ## import-linter: who may import whom
	$(BIN)/lint-imports

unit: $(READY) $(PEERS)
	$(BIN)/pytest

soak: $(READY) $(PEERS) ## the same harnesses at full counts
	SKILLYARD_SOAK=1 $(BIN)/pytest

bench: $(READY) ## measure against the floors and the peers, into bench/RESULTS.md
	$(BIN)/python bench/loading.py --write bench/RESULTS.md
	$(BIN)/python bench/search.py --write bench/RESULTS.md
	$(BIN)/python bench/registry.py --write bench/RESULTS.md
	$(BIN)/python bench/sandboxes.py --write bench/RESULTS.md
	$(BIN)/python bench/decisions.py --write bench/RESULTS.md
	$(BIN)/python bench/learning.py --write bench/RESULTS.md
	$(BIN)/python bench/mcp_serving.py --write bench/RESULTS.md
	$(BIN)/python bench/pages.py --write bench/RESULTS.md

docs: $(READY) ## rewrite the generated tables of docs/ from the code
	$(BIN)/python scripts/docs.py

lock: ## compile requirements.lock again (needs uv)
	uv pip compile --quiet --universal --python-version 3.11 --generate-hashes --all-extras --upgrade \
		pyproject.toml --output-file requirements.lock

clean: ## remove .venv and everything that was built
	rm -rf $(VENV) dist build .pytest_cache .ruff_cache .hypothesis .import_linter_cache
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
