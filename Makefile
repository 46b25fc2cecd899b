# The commands of the README and of CI. Everything is installed into .venv, tests/data/*/node_modules and, the
# encoder, the user's data folder. Only test-smoke and nightly install programs of the system, with apt-get.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip --disable-pip-version-check install --quiet
TEST_EXTRAS := analyzers,audit,gitlab,openai,pandas,validate
NIGHTLY_EXTRAS := codebert,mcp,ray,st
RESEARCH_EXTRAS := agreement,train
NIGHTLY_RESEARCH_EXTRAS := finetune
GROUPS := models hosts hostile growth research
DATA ?= ../shared/data/human-study/dev.jsonl.gz

WORKERS ?= $(shell getconf _NPROCESSORS_ONLN)
# With bytecode, or each process compiles the package and rewrites all tests again.
PYTEST = env -u PYTHONDONTWRITEBYTECODE $(BIN)/python -m pytest
PARALLEL = -n $(WORKERS) --dist worksteal

SCHEMA := $(BIN)/check-jsonschema --builtin-schema vendor.github-
YAML := .github action.yml action-types.yml docker examples mkdocs.yml CITATION.cff
YAMLLINT := '{extends: default, rules: {line-length: disable, document-start: disable, truthy: {check-keys: false}, comments: {min-spaces-from-content: 1}, braces: {max-spaces-inside: 1}}}'

.PHONY: help demo demo-audit demo-bench demo-pr test test-smoke check docs bench clean nightly $(GROUPS:%=nightly-%)

help:
	@echo "make demo     set up .venv and score the example"
	@echo "make demo-pr  score a pull request of a GitHub on this machine"
	@echo "make demo-audit  audit the review bots of a GitHub on this machine"
	@echo "make demo-bench  score three made-up bots on a golden set"
	@echo "make test     install Python and npm packages and run the fast tests"
	@echo "make test-smoke  what a user does first: install, the action, a browser, linters, hostile programs"
	@echo "make nightly  all other tests; nightly-GROUP runs one of: $(GROUPS)"
	@echo "make check    lint, types, import rules, workflows"
	@echo "make docs     the documentation, in site/"
	@echo "make bench    the numbers of benchmarks/README.md; DATA=FILE is the human study"

# pip 25.1 is the first that knows groups.
$(VENV)/installed: pyproject.toml research/pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit("crscore needs Python >= 3.11; try: make PYTHON=python3.12 ...") if sys.version_info < (3, 11) else None'
	$(PYTHON) -m venv $(VENV)
	$(PIP) --upgrade 'pip>=25.1'
	$(PIP) -e '.[analyzers]' -e ./research
	$(BIN)/crscore encoder install
	@touch $@

$(VENV)/installed-github: $(VENV)/installed
	$(PIP) -e '.[audit]' --group demo
	@touch $@

$(VENV)/installed-test: $(VENV)/installed
	$(PIP) -e '.[$(TEST_EXTRAS)]' -e './research[$(RESEARCH_EXTRAS)]' --group test --constraint requirements/test.constraints
	@touch $@

$(VENV)/installed-nightly: $(VENV)/installed-test
	$(PIP) -e '.[$(TEST_EXTRAS),$(NIGHTLY_EXTRAS)]' -e './research[$(RESEARCH_EXTRAS),$(NIGHTLY_RESEARCH_EXTRAS)]' --group nightly --constraint requirements/test.constraints
	@touch $@

$(VENV)/installed-check: $(VENV)/installed
	$(PIP) -e '.[github,gitlab,mcp]' --group check
	@touch $@

$(VENV)/installed-docs: $(VENV)/installed
	$(PIP) --group docs
	@touch $@

demo: $(VENV)/installed
	$(BIN)/crscore examples/change.diff examples/review.md --source-root examples/source

demo-audit: $(VENV)/installed-github
	$(BIN)/python scripts/demo_audit.py

demo-bench: $(VENV)/installed
	$(PIP) -e '.[bench]'
	$(BIN)/crscore bench examples/bench/golden.jsonl examples/bench/findings.jsonl

demo-pr: $(VENV)/installed-github
	$(BIN)/python scripts/demo_pr.py

.PHONY: npm-packages
npm-packages: $(VENV)/installed-test
	bash scripts/install-npm-packages.sh

test: npm-packages
	$(PYTEST) $(PARALLEL)

# Programs before npm's packages, as these need Node.js.
TOOLS = bash scripts/install-system-tools.sh

test-smoke:
	$(TOOLS) npm java chromium strace
	$(MAKE) npm-packages
	$(PYTEST) $(PARALLEL) -m smoke tests research/tests

nightly: $(GROUPS:%=nightly-%)

nightly-models: $(VENV)/installed-nightly
	$(TOOLS) wordnet
	$(PYTEST) $(PARALLEL) -m models
	bash scripts/install-test-llm.sh
	.venv-llm/bin/python -m pytest tests/llm

nightly-hosts: $(VENV)/installed-nightly
	$(TOOLS) npm java chromium strace buildah debootstrap
	$(MAKE) npm-packages
	bash scripts/install-promptfoo.sh
	$(PYTEST) $(PARALLEL) -m hosts

# With many examples of each property.
nightly-hostile: $(VENV)/installed-nightly
	$(TOOLS) npm javac g++ strace
	$(MAKE) npm-packages
	$(PYTEST) $(PARALLEL) -m "hostile or hypothesis" --hypothesis-profile nightly

# In one process: these tests measure time.
nightly-growth: $(VENV)/installed-test
	$(PYTEST) -m growth

nightly-research: $(VENV)/installed-nightly
	$(TOOLS) javac g++ chromium
	$(PYTEST) $(PARALLEL) --doctest-modules -m "not smoke" research

check: $(VENV)/installed-check
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/yamllint --strict --config-data $(YAMLLINT) $(YAML)
	$(BIN)/zizmor --offline --no-progress --quiet --persona pedantic .github action.yml docker/action.yml examples/workflows
	$(SCHEMA)actions action.yml docker/action.yml
	$(SCHEMA)workflows .github/workflows/*.yml examples/workflows/*.yml
	$(SCHEMA)issue-forms $(filter-out %/config.yml,$(wildcard .github/ISSUE_TEMPLATE/*.yml))
	$(SCHEMA)issue-config .github/ISSUE_TEMPLATE/config.yml
	$(BIN)/check-jsonschema --builtin-schema vendor.dependabot .github/dependabot.yml
	$(BIN)/check-jsonschema --builtin-schema vendor.citation-file-format CITATION.cff

docs: $(VENV)/installed-docs
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict

bench: $(VENV)/installed-nightly
	$(BIN)/crscore analyzers install
	$(BIN)/python benchmarks/cli_speed.py
	$(BIN)/python benchmarks/encoder_speed.py
	$(BIN)/python benchmarks/score_many.py
	$(BIN)/crscore validate $(DATA) --claims recorded
	$(BIN)/crscore validate $(DATA) --claims structural
	$(BIN)/python benchmarks/analyzers_speed.py
	$(BIN)/python benchmarks/pull_request.py
	$(BIN)/python benchmarks/claims_overhead.py
	$(BIN)/python benchmarks/claims_compared.py $(DATA)
	$(BIN)/python benchmarks/pull_request_faults.py
	$(BIN)/crscore validate $(DATA) --claims recorded --split grouped-cv 5
	$(BIN)/crscore validate $(DATA) --claims structural --split grouped-cv 5
	$(BIN)/crscore validate $(DATA) --claims recorded --analyzers auto --split grouped-cv 5
	$(BIN)/crscore validate $(DATA) --claims structural --analyzers auto --split grouped-cv 5

clean:
	rm -rf $(VENV) .venv-llm build dist site .mypy_cache .ruff_cache .pytest_cache .import_linter_cache
