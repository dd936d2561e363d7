"""Records what a server or a worker does, for as long as its process lives.

Where METRICS_ADDRESS is not set, nothing is loaded and nothing subscribes. Metrics are never the reason that a call fails: if
their folder cannot be written, the process serves without them and says so once.
"""

import asyncio
import logging
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING

from django.conf import settings

from gateway.core.database import pool
from gateway.core.database.backend import base
from gateway.core.http import limit_refusals
from gateway.core.runtime.logs import RecurringLog
from gateway.core.telemetry import observers
from gateway.core.telemetry.observation import Observation
from inference.metering import open_streams, routing

if TYPE_CHECKING:
    from gateway.metrics.calls import CallCounts
    from gateway.metrics.instruments import ProcessInstruments

log = logging.getLogger("gateway.metrics")

WRITE_SECONDS = 0.2
"""How long what has ended waits to be written: a kill -9 loses at most this."""

LOOK_SECONDS = 1.0
"""How often a process writes what it is doing at the moment."""

STOP_SECONDS = 1.0

_unrecorded = RecurringLog("gateway.metrics", logging.ERROR)


def is_wanted() -> bool:
    """Return whether METRICS_ADDRESS is set."""
    return settings.METRICS_ADDRESS is not None


class ServerMetrics:
    """Those of a server process: its calls, shortly after they have ended, and its moment once a second."""

    def __init__(self) -> None:
        self._counts: CallCounts | None = None
        self._moments: asyncio.Task[None] | None = None
        self._loop: asyncio.AbstractEventLoop | None = None
        self._is_due = False

    def start(self) -> None:
        """Begin, if metrics are wanted and their folder can be written."""
        if is_wanted():
            with _tolerated():
                self._begin()

    def _begin(self) -> None:
        _keep_in(settings.METRICS_DIR)
        from gateway.metrics.calls import CallCounts
        from gateway.metrics.instruments import CallInstruments, LimitInstruments, ProcessInstruments

        self._loop, self._counts = asyncio.get_running_loop(), CallCounts(CallInstruments())
        limits, moments = LimitInstruments(), ProcessInstruments()
        observers.subscribe(self._note)
        limit_refusals.subscribe(limits.count)
        self._moments = asyncio.create_task(_record_moments(moments))

    def stop(self) -> None:
        """Write what has ended, and look no more."""
        if self._moments is not None:
            observers.unsubscribe(self._note)
            self._moments.cancel()
            self._write()

    def _note(self, observation: Observation) -> None:
        assert self._counts is not None
        assert self._loop is not None
        self._counts.note(observation)
        if not self._is_due:
            self._is_due = True
            self._loop.call_later(WRITE_SECONDS, self._write)

    def _write(self) -> None:
        assert self._counts is not None
        self._is_due = False
        try:
            self._counts.write()
        except Exception as error:  # noqa: BLE001 - such as a full disk: what comes later may be written
            _report(error)


class WorkerMetrics:
    """Those of a Celery worker: the runs of its tasks, and its moment once a second."""

    def __init__(self) -> None:
        self._is_over = threading.Event()
        self._thread = threading.Thread(target=self._run, name="metrics", daemon=True)

    def start(self) -> None:
        """Begin, if metrics are wanted and their folder can be written."""
        if is_wanted():
            with _tolerated():
                self._begin()

    def _begin(self) -> None:
        _keep_in(settings.METRICS_DIR)
        from gateway.metrics.instruments import JobInstruments, ProcessInstruments
        from gateway.metrics.jobs import JobCounts

        self._instruments = ProcessInstruments()
        JobCounts(JobInstruments()).connect()
        self._thread.start()

    def stop(self) -> None:
        """Look no more."""
        self._is_over.set()
        with suppress(RuntimeError):  # it was not started
            self._thread.join(STOP_SECONDS)

    def _run(self) -> None:
        while not self._is_over.is_set():
            try:
                self._instruments.waiting.set(base.waiting())
            except Exception as error:  # noqa: BLE001 - such as a full disk: the next look tries again
                _report(error)
            self._is_over.wait(LOOK_SECONDS)


def _keep_in(folder: Path) -> None:
    """Have the metrics of this process kept in files of the folder. Raises OSError."""
    from gateway.metrics.numbers import Number
    from gateway.metrics.prometheus_internals import write_to

    write_to(folder, Number(folder))


@contextmanager
def _tolerated() -> Iterator[None]:
    """Log an OSError of the block: a process without metrics serves all the same."""
    try:
        yield
    except OSError as error:
        log.error("nothing is counted: %s cannot be written: %s", settings.METRICS_DIR, error.strerror)


async def _record_moments(instruments: "ProcessInstruments") -> None:
    while True:
        try:
            record_moment(instruments)
        except Exception as error:  # noqa: BLE001 - such as a full disk: the next look tries again
            _report(error)
        await asyncio.sleep(LOOK_SECONDS)


def record_moment(instruments: "ProcessInstruments") -> None:
    """Write what the server of the running loop does now."""
    instruments.streams.set(open_streams.count())
    instruments.waiting.set(pool.waiting() + base.waiting())
    for name, is_open in routing.upstreams().items():
        instruments.breakers.labels(name).set(is_open)


def _report(error: Exception) -> None:
    _unrecorded.write(type(error).__name__, f"what happens is not counted: {type(error).__name__}: {error}")
