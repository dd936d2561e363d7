"""Counts the runs of Celery's tasks."""

from typing import Any

from celery.signals import task_postrun

from gateway.metrics.instruments import JobInstruments

OUTCOMES = {"SUCCESS": "done", "FAILURE": "failed"}


class JobCounts:
    """A receiver of Celery's signals."""

    def __init__(self, instruments: JobInstruments) -> None:
        self._runs = instruments.runs

    def connect(self) -> None:
        """Count the tasks of this process from now on."""
        task_postrun.connect(self._count, weak=False)

    def _count(self, sender: Any = None, state: str | None = None, **signal: Any) -> None:
        self._runs.labels(sender.name, OUTCOMES.get(state or "", "other")).inc()
