"""Reports to the operator counters that a price does not have: once a day for each upstream, model and counter.

Such counters are charged as plain input or output tokens, so a price that lacks one may be too low. Every process sees them at
every call; the table decides which one reports it. As alarms, they are written in the background.
"""

import logging
from datetime import UTC, date, datetime
from typing import Any, NamedTuple

from django.db import connection

from inference.metering.notes import Note, Notes

log = logging.getLogger("inference.alarms")

COUNTERS_MAX = 1000
"""The most counters that are kept for an upstream, which may invent names."""

_REPORT = """
WITH reported AS (
  INSERT INTO inference_unpriced_counter AS c (upstream_id, model, counter, told_on)
  SELECT u.id, %(model)s, %(counter)s, %(day)s FROM inference_upstream u
   WHERE u.name = %(upstream)s
     AND (SELECT count(*) FROM inference_unpriced_counter o
           WHERE o.upstream_id = u.id AND (o.model, o.counter) <> (%(model)s, %(counter)s)) < %(most)s
  ON CONFLICT (upstream_id, model, counter) DO UPDATE SET told_on = excluded.told_on WHERE c.told_on < excluded.told_on
  RETURNING upstream_id)
UPDATE inference_upstream u
   SET alarms = alarms + 1, last_alarm = %(text)s, last_alarm_at = %(at)s
  FROM reported WHERE u.id = reported.upstream_id
"""


class Counter(NamedTuple):
    """A counter in the usage of a model's answers from an upstream."""

    upstream: str
    model: str
    name: str

    @property
    def text(self) -> str:
        """Return the alarm's text."""
        return f"{self.name} of {self.model} has no price of its own: such tokens are charged as plain ones"


def report(counter: Counter) -> None:
    """Report a counter to the operator, unless it was reported today."""
    now = datetime.now(UTC)
    if _reported_on.get(counter) != now.date():
        _notes.add(counter, Note(counter.text, now, 1))


def finish() -> None:
    """Write what is pending before the process exits. Raises TimeoutError if the database is too slow."""
    _notes.finish()


def write(counter: Counter, note: Note) -> None:
    """Record the counter, and report it if no process did on this day."""
    day = note.at.date()
    arguments: dict[str, Any] = {
        "upstream": counter.upstream,
        "model": counter.model,
        "counter": counter.name,
        "day": day,
        "text": note.text,
        "at": note.at,
        "most": COUNTERS_MAX,
    }
    with connection.cursor() as cursor:
        cursor.execute(_REPORT, arguments)
        if cursor.rowcount:
            log.error("%s: %s", counter.upstream, note.text)
    if len(_reported_on) >= COUNTERS_MAX:
        _reported_on.clear()
    _reported_on[counter] = day


_reported_on: dict[Counter, date] = {}
"""The day on which this process knows that a counter was reported."""

_notes = Notes(write)
