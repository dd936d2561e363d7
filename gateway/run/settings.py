"""Checks the settings in a separate process, because the supervisor does not load Django."""

import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

PROJECT_DIR = Path(__file__).resolve().parents[2]
READ = "from gateway.core.runtime.startup import load_settings; load_settings()"
EMBEDDED = {"DATABASE_URL": "postgresql://127.0.0.1/gateway"}
"""Used if none is configured: the gateway starts its own database, which does not exist yet."""


def settings_problems(given: Mapping[str, str], *, besides: Sequence[str]) -> list[str]:
    """Return a sentence for each setting that is missing or wrong, except for those that `besides` already reports."""
    environment = {**EMBEDDED, **given}
    read = subprocess.run(
        [sys.executable, "-c", READ], cwd=PROJECT_DIR, env=environment, capture_output=True, text=True, check=False
    )
    if not read.returncode:
        return []
    lines = [line.strip() for line in read.stderr.splitlines() if line.strip()]
    problems = [line for line in lines if not line.startswith("gateway: ")] or lines
    known = {problem.partition(" ")[0] for problem in besides}
    return [line for line in problems if line.partition(" ")[0] not in known]
