# `make demo` and `make test` need only Python 3.11+ and make: whichever runs first makes .venv.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.installed
# Adapters bring their frameworks, which may want other releases of common packages: `.ci/adapters` installs them.
ADAPTERS := plugins/octoc-langgraph plugins/octoc-openai-agents plugins/octoc-pydantic-ai plugins/octoc-claude-agent
PLUGINS := $(filter-out $(ADAPTERS),$(patsubst %/pyproject.toml,%,$(wildcard plugins/*/pyproject.toml)))
PLUGIN_TESTS := $(wildcard plugins/*/tests)
# Servers that the tests marked `node` start. Exact, since what they answer is compared with snapshots.
NODE_SERVERS := @modelcontextprotocol/server-everything@2026.8.31 @modelcontextprotocol/server-filesystem@2026.8.31
# Clients that the tests of `octoc serve` start: the npm SDK in both lines of its releases, and LangChain's adapters,
# which want another MCP SDK than octoc and so have an environment of their own.
NODE_CLIENTS := @modelcontextprotocol/sdk@1.32.2 @modelcontextprotocol/client@2.4.0
LANGCHAIN := langchain-mcp-adapters==0.3.2
# The certified identity provider whose access tokens `octoc serve` accepts in a test and in `benchmarks/oidc.py`.
NODE_PROVIDERS := oidc-provider@9.13.3
# octoc finds the secrets that these rules find. Exact: another version finds other things.
NODE_SCANNERS := @secretlint/core@13.0.7 @secretlint/secretlint-rule-preset-recommend@13.0.7
# The official conformance suite with the Node.js that it wants, and more clients. Only `make conformance` installs them,
# each client alone: without one of them the suite and the others still run. Node.js and Claude Code are the large ones.
NODE22 := node@22.23.3 @modelcontextprotocol/conformance@0.2.0-alpha.12
NODE22_CLIENTS := @anthropic-ai/claude-code@2.1.330 @modelcontextprotocol/inspector@2.12.0 mcp-remote@0.15.1 \
    @openai/agents@0.20.0 @ai-sdk/mcp@2.0.99

MINUTES ?= 10
RELEASES ?= newest oldest

.PHONY: help setup demo test conformance adapters docs fuzz rug-pull snapshots recordings lint format types clean

help:
	@echo "make demo    build the demo workspace, route three messages, call two tools"
	@echo "make test    run every test (ARGS='-k name' passes options to pytest; -n 0: in one process)"
	@echo "make conformance  run the official conformance suite of MCP, and clients that want Node.js 22, on octoc serve"
	@echo "make adapters     test the adapters with their frameworks (RELEASES='newest oldest')"
	@echo "make docs    build the docs site into site/; a broken link fails"
	@echo "make rug-pull  two real releases of one server under one command (installs from the package index)"
	@echo "make fuzz    look for new counterexamples of the property tests (MINUTES=10, ARGS='tests/runtime/isolation')"
	@echo "make snapshots  rewrite tests/snapshots: what users and models see, as files"
	@echo "make recordings  record the terminal sessions of README and docs again (ARGS=doctor: only one)"
	@echo "make lint    ruff: rules and format    make format    let ruff repair both"
	@echo "make types   mypy --strict             make clean     remove .venv, caches and builds"

setup: $(STAMP)

# Three parts beside each other where make may (`make -j3 setup`), each done again when what it installs may have changed.
$(STAMP): $(VENV)/.python $(VENV)/.node $(VENV)/.langchain
	@touch $@

$(VENV)/.pip: Makefile
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and f"octoc needs Python 3.11 or newer, and $(PYTHON) is {sys.version.split()[0]}: make PYTHON=python3.11")'
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --upgrade "pip>=25.1"
	@touch $@

# One pip command, so that octoc and its plugins are resolved together; pip 25.1 is the first that reads a group. No extra
# that names plugins: it would ask for a second copy of each.
$(VENV)/.python: $(VENV)/.pip pyproject.toml $(PLUGINS:%=%/pyproject.toml)
	@echo "setup: installing octoc, its plugins and the tools of development into $(VENV)"
	$(BIN)/python -m pip install --quiet --editable ".[calibrate,sign]" $(PLUGINS:%=--editable ./%) --group dev
	$(BIN)/python -m compileall -q octoc plugins/*/octoc_* # pip compiles what it copies, and an editable install copies nothing
	@touch $@

$(VENV)/.node: Makefile
	@mkdir -p $(VENV)
	@if ! command -v npm >/dev/null; then \
	    echo "setup: npm is not here, so the tests that need node will be skipped"; \
	elif ! { mkdir -p $(VENV)/node && npm install --silent --no-audit --no-fund --prefix $(VENV)/node $(NODE_SERVERS) $(NODE_CLIENTS) $(NODE_PROVIDERS) $(NODE_SCANNERS); }; then \
	    echo "setup: npm could not install $(NODE_SERVERS) $(NODE_CLIENTS) $(NODE_PROVIDERS) $(NODE_SCANNERS), so the tests that need them will be skipped"; \
	fi
	@touch $@

$(VENV)/.langchain: $(VENV)/.pip
	@if ! { $(BIN)/python -m venv --without-pip $(VENV)/langchain && \
	    $(BIN)/python -m pip --python $(VENV)/langchain/bin/python install --quiet $(LANGCHAIN); }; then \
	    echo "setup: pip could not install $(LANGCHAIN), so the tests that need it will be skipped"; rm -rf $(VENV)/langchain; \
	fi
	@touch $@

demo: $(STAMP)
	$(BIN)/python examples/demo/run.py

# By two processes at once, each file's tests in one of them, since what is made for a file is made once. Not in
# pyproject.toml: `pytest tests/x.py` starts sooner alone, and a debugger works in it. No test takes a tenth of the limit
# on an idle machine; one that reaches it hangs.
test: $(STAMP)
	$(BIN)/python -m pytest -n 2 --dist loadfile --timeout 600 $(ARGS)

NPM22 = npm install --save-exact --silent --no-audit --no-fund --prefer-offline --prefix $(VENV)/node22

$(VENV)/.node22: Makefile
	@mkdir -p $(VENV)
	@if ! command -v npm >/dev/null; then \
	    echo "conformance: npm is not here, so the suite will be skipped"; \
	elif ! { mkdir -p $(VENV)/node22 && $(NPM22) $(NODE22); }; then \
	    echo "conformance: npm could not install $(NODE22), so the suite and the clients will be skipped"; \
	else \
	    for client in $(NODE22_CLIENTS); do \
	        $(NPM22) $$client || echo "conformance: npm could not install $$client, so its test will be skipped"; \
	    done; \
	fi
	@touch $@

conformance: $(STAMP) $(VENV)/.node22
	$(BIN)/python -m pytest plugins/octoc-serve/tests/test_conformance.py plugins/octoc-serve/tests/test_real_clients.py $(ARGS)

# Each release of a framework in an environment of its own; `.ci/adapters` names them.
adapters: $(STAMP)
	.ci/adapters $(RELEASES)

# The site's generator knows nothing of octoc: its packages are in an environment of their own, where no release of theirs
# meets one of octoc's. The pages are written by octoc's environment.
$(VENV)/.docs: $(VENV)/.pip pyproject.toml
	$(BIN)/python -m venv --without-pip $(VENV)/docs
	$(BIN)/python -m pip --python $(VENV)/docs/bin/python install --quiet --group docs
	@touch $@

docs: $(STAMP) $(VENV)/.docs
	$(BIN)/python -m docs_site
	$(VENV)/docs/bin/zensical build --strict --clean --config-file build/docs/zensical.toml
	rm -rf site && mv build/docs/site site

# New seeds, which `make test` never has: what fails here becomes a fixed example there. No part of CI.
fuzz: $(STAMP)
	$(BIN)/python tests/fuzz.py --minutes $(MINUTES) $(ARGS)

# Two real releases of one server, installed from the package index: too long for `make test`. No part of CI.
rug-pull: $(STAMP)
	$(BIN)/python -m pytest tests/pins/rug_pull.py -rs $(ARGS)

# In one process: each folder of snapshots is rewritten by one test, and so is what the tutorial shows.
snapshots: $(STAMP)
	OCTOC_WRITE_SNAPSHOTS=1 $(BIN)/python -m pytest -q tests/snapshots tests/golden tests/diagnostics/test_render.py tests/docs/test_tutorial.py

# Real commands in a new folder below the system's one for temporary files: two runs write the same bytes.
recordings: $(STAMP)
	$(BIN)/python -m docs_site.recordings $(ARGS)

lint: $(STAMP)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

format: $(STAMP)
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

# Each plugin's tests apart: they are no packages, so files of two plugins may have one name.
types: $(STAMP)
	$(BIN)/mypy
	@set -e; for tests in $(PLUGIN_TESTS); do echo "$(BIN)/mypy $$tests"; $(BIN)/mypy $$tests; done

clean:
	rm -rf $(VENV) .mypy_cache .pytest_cache .ruff_cache .hypothesis build site dist plugins/*/dist examples/*/dist
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
