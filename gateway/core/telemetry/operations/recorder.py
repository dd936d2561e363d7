"""Records what this process observes: keeps it in memory, and writes it once a second in a transaction of its own.

A database that is away costs rows, never memory without bound, and never a call. A process that is killed loses what it has not written,
at most the last second.
"""

import logging
import time
from collections.abc import Callable
from threading import Event, Lock, Thread

from django.conf import settings
from django.db import DataError, IntegrityError, connections

from gateway.core.runtime.logs import RecurringLog
from gateway.core.telemetry import observers
from gateway.core.telemetry.observation import Observation
from gateway.core.telemetry.operations.writing import CommitUnknown, write
from gateway.core.telemetry.rules.batches import Batch
from gateway.core.telemetry.rules.sums import Key

PAUSE_SECONDS = 1.0
FINISH_SECONDS = 5.0
HOUR_SECONDS = 3600

_unwritten = RecurringLog("gateway.telemetry", logging.WARNING)


class Recorder:
    """Takes observations on any thread, and writes them on one of its own, which begins with the first of them."""

    def __init__(self, write: Callable[[Batch], None] = write) -> None:
        self._write = write
        self._batch = _empty()
        self._taking = Lock()
        self._writing = Lock()
        self._has_some = Event()
        self._thread: Thread | None = None

    def take(self, observation: Observation) -> None:
        """Count a request that has ended."""
        key = Key(
            int(time.time()) // HOUR_SECONDS * HOUR_SECONDS,
            observation.route,
            observation.model,
            observation.product,
            observation.upstream,
            str(observation.outcome),
            observation.cause,
        )
        with self._taking:
            self._batch.add(key, observation)
        if not self._has_some.is_set():
            self._has_some.set()
            self._start()

    def flush(self) -> bool:
        """Write what was taken by now, and wait for it, FINISH_SECONDS for another writer. Return whether all is written."""
        if not self._writing.acquire(timeout=FINISH_SECONDS):
            return False
        try:
            return self._flush()
        finally:
            self._writing.release()

    def _flush(self) -> bool:
        with self._taking:
            batch, self._batch = self._batch, _empty()
        if not batch:
            return True
        if batch.lost:
            _unwritten.write("lost", f"{batch.lost} requests are missing in the traffic: too many kinds waited")
        try:
            self._write(batch)
        except (CommitUnknown, DataError, IntegrityError) as error:  # written twice is worse than not at all
            _report(error, "are missing in the traffic")
        except Exception as error:  # noqa: BLE001 - a database that is away
            _report(error, "wait to be recorded")
            self._take_back(batch)
            return False
        finally:
            connections.close_all()  # this thread's own
        return True

    def _take_back(self, batch: Batch) -> None:
        batch.lost = 0
        with self._taking:
            self._batch.merge(batch)
        self._has_some.set()

    def _start(self) -> None:
        with self._taking:
            if self._thread is None or not self._thread.is_alive():  # the second in a process that was forked
                self._thread = Thread(target=self._run, name="telemetry", daemon=True)
                self._thread.start()

    def _run(self) -> None:
        while True:
            self._has_some.wait()
            time.sleep(PAUSE_SECONDS)
            self._has_some.clear()
            try:
                self.flush()
            except Exception as error:  # noqa: BLE001 - the thread goes on
                _report(error, "may be missing in the traffic")


def _empty() -> Batch:
    return Batch(max(settings.REQUEST_TRACES_PER_SECOND, 0))


def _report(error: Exception, what: str) -> None:
    cause = error.__cause__ or error
    _unwritten.write(type(error).__name__, f"requests {what}: {type(cause).__name__}: {cause}")


recorder = Recorder()
"""This process's."""


def start() -> None:
    """Record every request that ends from now on."""
    observers.subscribe(recorder.take)


def finish() -> None:
    """Write what is left before the process exits."""
    recorder.flush()
