"""Runs concurrent processes against the test's database."""

import json
import os
import subprocess
import sys
from typing import Any

from tests.support.database import database_url


def race(processes: int, **job: Any) -> list[list[str]]:
    """Run one job in several processes at the same moment; return their outcomes."""
    children = [_start(job) for _ in range(processes)]
    for child in children:
        assert child.stdout is not None
        assert child.stdout.readline() == "ready\n"
    for child in children:
        assert child.stdin is not None
        child.stdin.write("\n")
        child.stdin.flush()
    return [json.loads(child.communicate(timeout=60)[0]) for child in children]


def _start(job: dict[str, Any]) -> "subprocess.Popen[str]":
    child = subprocess.Popen(
        [sys.executable, "-m", "tests.accounts.contender"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ, "DATABASE_URL": database_url(), "DJANGO_SETTINGS_MODULE": "gateway.settings.test"},
    )
    assert child.stdin is not None
    child.stdin.write(json.dumps(job) + "\n")
    child.stdin.flush()
    return child
