# `make` lists what there is. Everything works from a fresh clone with Python 3.11 or later and make.

PYTHON ?= $(shell for p in python3 python3.14 python3.13 python3.12 python3.11 python; do \
	$$p -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null && echo $$p && break; done)
RUN := .venv/bin/python
PEERS := .venv-peers/bin/python
WORKERS ?= 3
BENCH = $(if $(AGAINST),--against $(AGAINST))
# Sources are compiled for every platform, without the address of any package registry.
LOCK = $(RUN) -m uv pip compile --quiet --generate-hashes --universal --python-version 3.11 --no-header \
	--no-emit-index-url --no-emit-find-links --allow-unsafe --override requirements-overrides.in

# For commands of manage.py that look at a database, without touching anybody's.
BESIDE_DATABASE = DJANGO_SETTINGS_MODULE=gateway.settings.test $(RUN) -m gateway.run.temporary

# A proxy that the environment names for downloads cannot reach this machine's own servers.
comma := ,
NOT_PROXIED := $(or $(no_proxy),$(NO_PROXY))
export NO_PROXY := 127.0.0.1,localhost,::1$(if $(NOT_PROXIED),$(comma)$(NOT_PROXIED))
export no_proxy := $(NO_PROXY)

# Else each of the many processes of a gateway would compile all modules again, also those of a second start.
unexport PYTHONDONTWRITEBYTECODE

.DEFAULT_GOAL := help
.PHONY: help run demo demo-app test quick check fmt docs lock bench bench-peers chaos venv venv-dev venv-peers python

help: ## list the targets
	@awk -F ':[^#]*## ' '/^[a-z-]+:[^#]*## / { printf "  make %-13s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

run: venv ## start the gateway with its own database; set PORT, HOST or DATA_DIR to change where, LOCAL_MODEL=true for real embeddings
	@exec $(RUN) -m gateway.run --follow-parent

demo: venv ## make paid calls through the running gateway and show their receipts
	@exec $(RUN) manage.py demo

demo-app: venv ## serve an example app on another origin: sign in, stream an answer; DEMO_APP_PORT sets its port
	@exec $(RUN) manage.py demo_app

test: venv-dev ## run the whole test suite; TESTS=tests/run runs a part, WORKERS=0 uses one process
	@exec $(RUN) -m pytest -n $(WORKERS) --dist loadfile $(TESTS)

quick: venv-dev ## run the tests of rules, operations and pages, in less than three minutes
	@exec $(RUN) -m pytest -p tests.support.quick -n $(WORKERS) --dist loadfile $(TESTS)

check: venv-dev ## lint, formatting, types, import rules, migrations and start-up checks
	$(RUN) -m ruff check
	$(RUN) -m ruff format --check
	$(RUN) -m mypy
	$(RUN) -m mypy --config-file clients/python/pyproject.toml clients/python/account_gateway_client
	$(RUN) -c 'from importlinter.cli import lint_imports_command; lint_imports_command()' --no-logo
	$(BESIDE_DATABASE) $(RUN) manage.py makemigrations --check --dry-run
	$(BESIDE_DATABASE) $(RUN) manage.py check --fail-level WARNING

fmt: venv-dev ## format the code and fix what a linter can fix
	$(RUN) -m ruff format
	$(RUN) -m ruff check --fix

docs: venv-dev ## build the documentation as a site into .docs; a broken link or an unlisted page is an error
	@exec $(RUN) -m docs.site

lock: venv-dev ## pin the newest versions that requirements*.in allow, with hashes
	$(LOCK) --upgrade requirements.in --output-file requirements.txt
	$(LOCK) --upgrade requirements-local-model.in --output-file requirements-local-model.txt
	$(LOCK) --upgrade requirements-dev.in --output-file requirements-dev.txt
	$(LOCK) --upgrade requirements-peers.in --output-file requirements-peers.txt

bench: venv-dev ## compare the gateway with a plain pass-through; AGAINST=REV compares it with another commit
	@exec $(RUN) -m bench $(BENCH)

bench-peers: venv-dev venv-peers bench/node_modules/.installed ## the same, and compare it with LiteLLM and Portkey's gateway
	@exec $(RUN) -m bench --peers $(BENCH)

bench/node_modules/.installed: bench/package-lock.json
	@command -v npm >/dev/null || { echo "bench: Node.js 20 or later with npm is not installed." >&2; exit 1; }
	@cd bench && npm ci --ignore-scripts --no-audit --no-fund && touch node_modules/.installed

chaos: venv-dev ## kill databases and servers under load for ten minutes, then check the money; ARGS are its options
	@exec $(RUN) -m tests.chaos $(ARGS)

venv: python
	@$(PYTHON) gateway/run/bootstrap.py requirements$(if $(filter true True 1 yes on,$(LOCAL_MODEL)),-local-model).txt

venv-dev: python
	@$(PYTHON) gateway/run/bootstrap.py requirements-dev.txt

venv-peers: python
	@$(PYTHON) gateway/run/bootstrap.py requirements-peers.txt .venv-peers

python:
	@test -n "$(PYTHON)" || { echo "gateway: Python 3.11 or later was not found; install it or set PYTHON=..." >&2; exit 1; }
