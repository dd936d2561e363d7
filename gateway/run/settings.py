"""Asks a process of its own what is wrong with the settings: the supervisor itself knows no Django."""

import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

PROJECT_DIR = Path(__file__).resolve().parents[2]
READ = "from gateway.core.startup import load_settings; load_settings()"
EMBEDDED = {"DATABASE_URL": "postgresql://127.0.0.1/gateway"}
"""Where none is named, the gateway starts a database of its own, which is not there yet."""


def settings_problems(given: Mapping[str, str], *, besides: Sequence[str]) -> list[str]:
    """Return a sentence for each setting that is missing or wrong, but for those that `besides` begins with too."""
    environment = {**EMBEDDED, **given}
    read = subprocess.run(
        [sys.executable, "-c", READ], cwd=PROJECT_DIR, env=environment, capture_output=True, text=True, check=False
    )
    if not read.returncode:
        return []
    lines = [line.strip() for line in read.stderr.splitlines() if line.strip()]
    told = [line for line in lines if not line.startswith("gateway: ")] or lines
    known = {problem.partition(" ")[0] for problem in besides}
    return [line for line in told if line.partition(" ")[0] not in known]
