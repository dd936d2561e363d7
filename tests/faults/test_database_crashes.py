"""The database crashes repeatedly under two gateway processes: the ledger stays correct and every client is answered.

A short chaos run (`tests/chaos`): from outside, on durable storage with a slow disk, with new connections after each crash.
"""

import subprocess
from typing import Any

import pytest

from tests.chaos.run import ALWAYS, Plan, play
from tests.chaos.verdicts import back_too_late, unanswered
from tests.support.forked import Forked
from tests.support.migrated import copy_cluster

CRASHES = [
    "backend killed",
    "backend killed",
    "immediate shutdown",
    "backend killed",
    "postmaster killed",
    "backend killed",
    "immediate shutdown",
    "backend killed",
    "backend killed",
]
# Other tests run beside it.
SHORT: dict[str, Any] = {"seconds": 16, "pause_seconds": 0.5, "undisturbed_seconds": 2, "furnish": copy_cluster}


@pytest.fixture(autouse=True)
def forked_processes(monkeypatch: pytest.MonkeyPatch) -> None:
    """Fork the installation's processes instead of starting interpreters."""
    monkeypatch.setattr(subprocess, "Popen", Forked)


def test_no_acknowledged_result_is_lost() -> None:
    report = play(Plan(kinds=CRASHES, seed=7, slow_disk=ALWAYS, patience_seconds=30, **SHORT))
    assert len(report.evidence.calls) > 50  # on a busy machine as well, so that there was something to lose
    assert report.is_clean, f"{report.markdown()}\n\n{report.examples()}"


def test_every_request_is_answered_while_backends_are_killed() -> None:
    report = play(Plan(kinds=["backend killed"] * 9, seed=11, patience_seconds=0, **SHORT))
    waiting = [*unanswered(report.evidence), *back_too_late(report.evidence)]
    assert waiting == [], report.markdown()
