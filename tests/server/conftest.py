"""Tests of the server itself, from outside, over real sockets."""

import pytest

from gateway import health
from tests.support.stage_fixtures import db, gateway, stage, upstream  # noqa: F401


@pytest.fixture(autouse=True)
def _patient_health_check(monkeypatch: pytest.MonkeyPatch) -> None:
    """On a machine that is busy with tests, the database can take longer to answer than the health check waits."""
    monkeypatch.setattr(health, "ANSWER_SECONDS", 60.0)
