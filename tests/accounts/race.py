"""Runs concurrent processes against the test's database."""

import json
import os
import subprocess
import sys
from collections.abc import Callable
from typing import Any

from tests.support.concurrency import PATIENCE_SECONDS
from tests.support.database import database_url
from tests.support.forked import Forked


def race(processes: int, job: str, arguments: Callable[[], dict[str, Any]] = dict) -> list[list[str]]:
    """Run one job in several processes at the same moment; return their outcomes.

    Its arguments are made when all processes are ready, so that no assertion expires while they start.
    """
    children = [_start() for _ in range(processes)]
    for child in children:
        assert child.stdout is not None
        assert child.stdout.readline() == "ready\n"
    line = json.dumps({"job": job, **arguments()}) + "\n"
    for child in children:
        assert child.stdin is not None
        child.stdin.write(line)
        child.stdin.flush()
    return [json.loads(child.communicate(timeout=PATIENCE_SECONDS)[0]) for child in children]


def _start() -> "subprocess.Popen[str]":
    return Forked(
        [sys.executable, "-m", "tests.accounts.contender"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ, "DATABASE_URL": database_url(), "DJANGO_SETTINGS_MODULE": "gateway.settings.test"},
    )
