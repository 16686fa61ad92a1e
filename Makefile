# Two commands do everything on a machine with Python 3.11+, make, git and a C/C++ compiler: make demo, make test.

PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin
# llama-cpp-python comes as source only: its wheel is built once (minutes) and then taken from pip's own cache.
export CMAKE_BUILD_PARALLEL_LEVEL ?= 2
export PIP_DISABLE_PIP_VERSION_CHECK := 1

.PHONY: demo test lint types docs bench stress hosts clean

demo: $(VENV)/.base                 ## build a memory repository from examples/ and use it
	@$(BIN)/python tools/demo.py

test: $(VENV)/.dev lint types       ## lint, types and all tests
	$(BIN)/python -m pytest -n auto --dist worksteal $(ARGS)

lint: $(VENV)/.dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: $(VENV)/.dev
	$(BIN)/mypy

docs: $(VENV)/.dev                  ## write docs/cli.md, docs/config.md and the man pages from the code
	$(BIN)/python tools/docs.py

bench: $(VENV)/.dev                 ## measure; GITMEM_BENCH_DATA names the folder of the development sets
	$(BIN)/python -m bench $(ARGS)

stress: $(VENV)/.dev                ## the large and long runs
	$(BIN)/python -m pytest -n auto -m stress $(ARGS)

hosts: $(VENV)/.dev .hosts/.installed  ## run the agents' hosts from npm, fill docs/agents.md; ARGS="claude --keep /tmp/x"
	$(BIN)/python integrations/hosts $(or $(ARGS),--docs)

# Node first: some hosts refuse to be installed with an older one.
.hosts/.installed: integrations/hosts/package.json
	@mkdir -p .hosts && cp integrations/hosts/package.json .hosts/
	cd .hosts && npm install --no-save --no-package-lock --no-audit --no-fund --loglevel=error \
	  node@$$(sed -n 's/.*"node": "\(.*\)".*/\1/p' package.json)
	cd .hosts && PATH=$$PWD/node_modules/node/bin:$$PATH npm install --no-package-lock --no-audit --no-fund --loglevel=error
	@touch $@

$(VENV)/bin/pip:
	$(PYTHON) -m venv $(VENV)
	$(BIN)/pip install --quiet --upgrade pip

$(VENV)/.base: $(VENV)/bin/pip pyproject.toml
	$(BIN)/pip install --quiet --editable .
	$(BIN)/python -m compileall -q gitmem  # an environment that writes no bytecode would compile at every start
	@touch $@

$(VENV)/.dev: $(VENV)/.base
	$(BIN)/pip install --quiet --group dev --editable ".[llama,remote,mcp,watch]"
	@touch $@

clean:
	rm -rf $(VENV) .demo .hosts dist build
