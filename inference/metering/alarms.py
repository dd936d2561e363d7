"""Reports problems that only the operator can fix: logs them at once and records them with the upstream for the console.

A background thread writes the records, at most one a second, so no call waits for them or fails because of them.
"""

import logging
from datetime import UTC, datetime

from django.db import models

from gateway.core.contract.errors import ModelUnavailable
from gateway.core.runtime.logs import RecurringLog
from inference.interface.upstream import Alarm, Rejected
from inference.metering import unpriced
from inference.metering.notes import Note, Notes
from inference.models import Upstream

_reported = RecurringLog("inference.alarms", logging.ERROR)


def report(upstream: str, alarm: Alarm, usage_id: str) -> None:
    """Report an alarm about the upstream of this name to the operator."""
    _reported.write(f"{upstream} {alarm.cause}", f"{alarm.text} (call {usage_id})")
    _notes.add(upstream, Note(alarm.text, datetime.now(UTC), 1))


def finish() -> None:
    """Write all pending notes before the process exits. Raises TimeoutError if the database is too slow."""
    _notes.finish()
    unpriced.finish()


def unservable(model: str, route: str) -> Rejected:
    """Refuse a call that no deployment can serve, and notify the operator."""
    alarm = Alarm("no deployment", f"no deployment can serve {model} on {route}")
    _reported.write(f"{model} {route} {alarm.cause}", alarm.text)
    return Rejected(ModelUnavailable(private=alarm.text), alarm=alarm)


def write(upstream: str, note: Note) -> None:
    """Record alarms with the upstream of this name, if it still exists."""
    Upstream.objects.filter(name=upstream).update(
        alarms=models.F("alarms") + note.count, last_alarm=note.text, last_alarm_at=note.at
    )


_notes = Notes(write)
