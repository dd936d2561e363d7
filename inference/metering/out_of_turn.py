"""Reports upstreams that sent something out of turn: in the log, in the console, and to the other processes."""

import logging
from datetime import UTC, datetime

from django.db.models import F

from gateway.core.runtime.logs import RecurringLog
from inference.metering.alarms import Note, Notes
from inference.models import Upstream
from inference.queries.upstreams import of_origin

_reported = RecurringLog("inference.alarms", logging.ERROR)


def report(origin: str) -> None:
    """Report that an origin was out of turn just now. Never raises and never waits for the database."""
    text = f"{origin} sent something unrequested: each of its connections is used for one call"
    _reported.write(origin, f"{text}, for a day or until an operator allows their reuse in the console")
    _notes.add(origin, Note(text, datetime.now(UTC), 1))


def write(origin: str, note: Note) -> None:
    """Record it with all upstreams of this origin, where every process reads it within 15 s."""
    Upstream.objects.filter(pk__in=[row.pk for row in of_origin(origin)]).update(
        alarms=F("alarms") + note.count, last_alarm=note.text, last_alarm_at=note.at, out_of_turn_at=note.at
    )


_notes = Notes(write)
finish = _notes.finish


def reuse(upstream_id: int, *, now: datetime) -> Upstream:
    """Allow the connections of an upstream to be reused, and those of all upstreams with the same origin, because they share them.
    Every process follows within 15 s. What the origin does from `now` on counts again."""
    upstream = Upstream.objects.get(pk=upstream_id)
    rows = of_origin(upstream.origin or "") or [upstream]
    Upstream.objects.filter(pk__in=[row.pk for row in rows]).update(connections_trusted_at=now)
    return upstream
