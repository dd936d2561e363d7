"""Provides real cgroups for tests that need no controllers."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from uuid import uuid4

from integrations.adapters import delegation


def machines_own() -> list[Path]:
    """Return the parent for tests' cgroups, as a list of at most one: SANDBOX_CGROUP, or else the process's own."""
    named = os.environ.get("SANDBOX_CGROUP", "none")
    try:
        place = Path(named) if named not in ("", "none") else delegation.own()
    except delegation.NotDelegated:
        return []
    return [place] if os.access(place / "cgroup.procs", os.W_OK) and _can_have_children(place) else []


@contextmanager
def child(place: Path) -> Iterator[Path]:
    """Provide a cgroup for one test."""
    path = place / f"test-{uuid4().hex}"
    path.mkdir()
    try:
        yield path
    finally:
        for left in (*path.iterdir(), path):
            if left.is_dir():
                left.rmdir()


def _can_have_children(place: Path) -> bool:
    try:
        with child(place):
            return True
    except OSError:
        return False
