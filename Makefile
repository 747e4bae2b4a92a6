# `make demo` and `make test` need Python 3.11+, make and git; everything else they set up themselves in .venv.
PYTHON ?= python3
BIN := .venv/bin

.DEFAULT_GOAL := help

help: ## Show what can be made
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/^([a-z-]+):.*## */  make \1\t/' | expand -t 18

# The wheel of claude-agent-sdk holds a program of 370 MB that no test runs; the source package does not.
.venv/ready: pyproject.toml constraints.txt
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
		{ echo "outlive needs Python 3.11 or newer; say which with: make PYTHON=python3.12 …"; exit 1; }
	@echo "setting up .venv (once, 1 to 2 minutes): outlive, every optional part and the tools for its tests, nothing outside of this folder …"
	@$(PYTHON) -m venv .venv
	@echo "  1/3 pip"
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --upgrade 'pip>=25.1'
	@echo "  2/3 the $$(grep -vc '^#' constraints.txt) packages of constraints.txt"
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --constraint constraints.txt --no-binary claude-agent-sdk \
		--group dev --editable '.[all]'
	@echo "  3/3 compiling"
	@$(BIN)/python -m compileall -q src
	@$(MAKE) --silent system
	@touch $@

# bubblewrap (--sandbox), ripgrep (grep), tmux (the terminal) and chromium (the page) make more tests run; without them
# those are skipped, with the reason.
SYSTEM := bubblewrap ripgrep tmux chromium
# Takes a fifth less than the whole browser; not every distribution has it.
BROWSER := chromium-headless-shell
APT := timeout 300 apt-get -qq -o Acquire::Retries=0 -o Acquire::http::Timeout=5 -o Acquire::https::Timeout=5
system:
	@if [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null && ! { command -v bwrap && command -v rg && command -v tmux && command -v $(BROWSER); } >/dev/null; then \
		echo "installing $(SYSTEM) for the tests with apt, because this is root …"; \
		export DEBIAN_FRONTEND=noninteractive; \
		{ $(APT) install -y $(SYSTEM) || { $(APT) update && $(APT) install -y $(SYSTEM); }; $(APT) install -y $(BROWSER); } \
			>/dev/null 2>&1 || true; fi

setup: .venv/ready ## Install everything into .venv

demo: .venv/ready ## Play the main story in a temporary folder: no key, no network
	@$(BIN)/outlive demo

test: .venv/ready ## All checks: ruff, mypy --strict, architecture, unit, property, crash, end to end
	@$(MAKE) --silent --jobs=3 lint types compiled
	@$(BIN)/python -m pytest

# What pytest makes of the assertions, once for all of its processes, while mypy uses one core alone.
compiled: .venv/ready
	@PYTHONDONTWRITEBYTECODE= $(BIN)/python -m pytest --collect-only -n 0 >/dev/null 2>&1 || true

lint: .venv/ready ## ruff: lint and format
	@$(BIN)/ruff check --quiet . && $(BIN)/ruff format --check --quiet .

types: .venv/ready ## mypy --strict
	@$(BIN)/mypy

format: .venv/ready ## Let ruff fix and format what it can
	@$(BIN)/ruff check --fix --quiet . && $(BIN)/ruff format --quiet .

docs: .venv/ready ## Write the references in docs/ from the code
	@$(BIN)/python -m tests.test_docs
	@$(BIN)/python -m tests.tools.test_standard
	@$(BIN)/python -m tests.cli.chat.test_docs
	@$(BIN)/python -m tests.cli.test_config
	@$(BIN)/python -m tests.test_dependencies

audit: .venv/ready ## Known vulnerabilities of the pinned packages (needs the network)
	@$(PYTHON) -m venv .venv/audit
	@.venv/audit/bin/python -m pip install --quiet --disable-pip-version-check pip-audit
	@$(BIN)/python -m tests.audit .venv/audit/bin/pip-audit

bench: .venv/ready ## Measure; see bench/README.md
	@$(BIN)/python -m bench.tasks

clean: ## Remove what was set up
	rm -rf .venv .mypy_cache .pytest_cache .ruff_cache .hypothesis

.PHONY: help setup system demo test compiled lint types format docs audit bench clean
