"""A server or a worker counts only if that is wanted, and serves all the same if it cannot."""

import logging
import subprocess
import sys
from pathlib import Path

import pytest
from pytest_django import Settings

from gateway.core.contract.errors import NotFound, RateLimited
from gateway.core.http import limit_refusals
from gateway.core.http.responses import error_response
from gateway.core.runtime import logs
from gateway.core.telemetry import observers
from gateway.metrics import exposition
from gateway.metrics.instruments import ProcessInstruments
from gateway.metrics.prometheus_internals import FOLDER
from gateway.metrics.recording import ServerMetrics, WorkerMetrics, record_moment
from gateway.run.options import PROJECT_DIR
from inference.metering import open_streams
from tests.metrics.test_calls import observation
from tests.metrics.text import Scrape


@pytest.fixture
def wanted(tmp_path: Path, settings: Settings, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv(FOLDER, "")
    monkeypatch.setattr(observers, "_subscribers", [])
    monkeypatch.setattr(limit_refusals, "_subscribers", [])
    settings.METRICS_ADDRESS, settings.METRICS_DIR = ("127.0.0.1", 1), tmp_path / "metrics"
    return tmp_path / "metrics"


def subscribers() -> int:
    return len(observers._subscribers) + len(limit_refusals._subscribers)


async def test_without_an_address_nothing_subscribes() -> None:
    before, metrics = subscribers(), ServerMetrics()
    metrics.start()
    WorkerMetrics().start()
    assert subscribers() == before
    metrics.stop()


def test_without_an_address_the_library_is_not_loaded() -> None:
    code = "import sys, gateway.asgi; print([name for name in sys.modules if name.startswith('prometheus_client')])"
    done = subprocess.run([sys.executable, "-c", code], cwd=PROJECT_DIR, capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"


async def test_what_ends_before_a_stop_is_written(wanted: Path) -> None:
    metrics = ServerMetrics()
    metrics.start()
    noted = observation()
    noted.ended_ns = None
    observers.finish(noted)
    limit_refusals.note(RateLimited(details={"scope": "account", "limit": "requests_per_minute"}))
    limit_refusals.note(NotFound())
    metrics.stop()
    scrape = Scrape(exposition.render(wanted, None).decode())
    assert scrape.value("gateway_calls_total") == 1
    assert scrape.series("gateway_rate_limited_total") == [({"scope": "account", "limit": "requests_per_minute"}, 1)]


def test_whoever_cannot_count_a_limit_changes_no_answer(wanted: Path, caplog: pytest.LogCaptureFixture) -> None:
    def full(scope: str, limit: str) -> None:
        raise OSError(28, "No space left on device")

    logs.forget()
    counted: list[tuple[str, str]] = []
    limit_refusals.subscribe(full)
    limit_refusals.subscribe(lambda scope, limit: counted.append((scope, limit)))
    error = RateLimited(details={"scope": "account", "limit": "requests_per_minute"})
    assert error_response(error, "req_1").status_code == 429
    assert counted == [("account", "requests_per_minute")]
    assert "a limit is not counted: OSError: [Errno 28] No space left on device" in caplog.text


async def test_a_folder_that_cannot_be_written_is_said_and_nothing_else(
    wanted: Path, caplog: pytest.LogCaptureFixture
) -> None:
    wanted.write_text("a file")  # noqa: ASYNC240
    metrics = ServerMetrics()
    with caplog.at_level(logging.ERROR, "gateway.metrics"):
        metrics.start()
        WorkerMetrics().start()
    expected = f"nothing is counted: {wanted} cannot be written: File exists"
    assert [record.getMessage() for record in caplog.records if record.name == "gateway.metrics"] == [expected] * 2
    assert subscribers() == 0
    metrics.stop()


async def test_an_open_stream_is_written(folder: Path) -> None:
    moment = ProcessInstruments()
    with open_streams.counted():
        record_moment(moment)
    assert Scrape(exposition.render(folder, None).decode()).value("gateway_streams_open") == 1
    record_moment(moment)
    assert Scrape(exposition.render(folder, None).decode()).value("gateway_streams_open") == 0
