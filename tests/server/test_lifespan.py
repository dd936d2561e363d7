"""A server process whose start or stop fails half-way: it closes what it opened, and says why."""

import asyncio
import logging
from typing import Any

import pytest

from gateway.core.database.pool import LedgerPool
from gateway.server import lifespan
from gateway.server.lifespan import Lifespan
from tests.support.serving import RunningGateway

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def closed(monkeypatch: pytest.MonkeyPatch) -> list[LedgerPool]:
    """Collect the pools that are closed."""
    found: list[LedgerPool] = []
    close = LedgerPool.close

    def closing(pool: LedgerPool) -> None:
        found.append(pool)
        close(pool)

    monkeypatch.setattr(LedgerPool, "close", closing)
    return found


def fail() -> None:
    raise RuntimeError("no space left")


def errors(caplog: pytest.LogCaptureFixture) -> list[str]:
    return [
        line.getMessage()
        for line in caplog.records
        if line.levelno >= logging.ERROR and line.name == "gateway.lifespan"
    ]


def test_a_step_of_the_shutdown_that_fails_keeps_no_other_from_being_taken(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture, closed: list[LedgerPool]
) -> None:
    monkeypatch.setattr(lifespan.recorder, "finish", fail)
    with RunningGateway(Lifespan()):
        assert not closed
    assert errors(caplog) == ["a step of the shutdown failed"]
    assert len(closed) == 1


def test_a_server_that_cannot_start_says_so_and_serves_nothing(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture, closed: list[LedgerPool]
) -> None:
    sent: list[dict[str, Any]] = []

    async def receive() -> dict[str, Any]:
        return {"type": "lifespan.startup"}

    async def send(message: dict[str, Any]) -> None:
        sent.append(message)

    monkeypatch.setattr(lifespan, "handle_signals", fail)
    asyncio.run(Lifespan()({}, receive, send))
    problem = "The server cannot start: RuntimeError: no space left"
    assert sent == [{"type": "lifespan.startup.failed", "message": problem}]
    assert errors(caplog) == ["the server cannot start"]
    assert len(closed) == 1
