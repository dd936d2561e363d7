"""A server process that serves only model routes imports nothing of pages, jobs and vectors (docs/operations.md, Memory)."""

import os
import subprocess
import sys

import pytest

from gateway.run.options import PROJECT_DIR
from tests.support.concurrency import PATIENCE_SECONDS
from tests.support.database import database_url

HEAVY = (
    "PIL",
    "accounts.admin",
    "allauth.account.forms",
    "billing.admin",
    "billing.portal",
    "celery",
    "fido2",
    "gateway.console_urls",
    "hypothesis",
    "inference.admin",
    "numpy",
    "opentelemetry",
    "organizations.portal",
    "prometheus_client",
    "pydantic",
    "reportlab",
)
STARTED = """
import sys
import gateway.asgi
from inference.metering.served import routes
from inference.queries import catalogue
assert routes()
catalogue.read()
print(*sorted(sys.modules))
"""
"""Prints what is imported once the application, the metered routes and the catalogue are there, as at a server's start."""
ADDED = """
from inference.models import Alias
Alias.objects.create(name="near", options={"routes": ["embeddings"]})
catalogue.read()
print("numpy" in sys.modules)
"""
"""Prints whether the first model of vectors that a catalogue has brings what its calls need."""


@pytest.mark.django_db(transaction=True)
def test_imports_of_a_server_process() -> None:
    environment = {**os.environ, "DATABASE_URL": database_url()}
    command = [sys.executable, "-c", STARTED + ADDED]
    completed = subprocess.run(
        command, cwd=PROJECT_DIR, env=environment, capture_output=True, text=True, timeout=PATIENCE_SECONDS
    )
    assert completed.returncode == 0, completed.stderr
    started, added = completed.stdout.splitlines()
    assert [name for name in HEAVY if name in started.split()] == []
    assert added == "True"
