"""Checks whether this machine can execute programs under bubblewrap, and how they are limited."""

import subprocess

from integrations.adapters import bubblewrap, confinement, delegation
from integrations.adapters.programs import Ending, Program, RunnerMissing

_PROBE = Program(("true",), timeout_seconds=30)


def check() -> str:
    """Execute a program that does nothing, and describe the limits of programs here. Raises RunnerMissing with the
    reason if it fails.
    """
    version = subprocess.run(
        [confinement.program_path("bwrap", "bubblewrap"), "--version"], capture_output=True, text=True, check=False
    ).stdout.strip()
    outcome, _ = bubblewrap.run(_PROBE, lambda _: True)
    if outcome.ending is not Ending.EXITED or outcome.exit_code != 0:
        raise RunnerMissing(outcome.reason or f"A program that does nothing ended with exit code {outcome.exit_code}.")
    return f"{version}; {_bounds()}"


def _bounds() -> str:
    """Describe what limits a run's memory, processes and processor time."""
    try:
        return f"a cgroup below {delegation.base()} bounds each run"
    except delegation.NotDelegated as error:
        return f"resource limits bound each process, and the worker bounds their sum, because {error}"
