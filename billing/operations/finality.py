"""The time up to which everything is committed. Not on the hot path.

A row is dated before it is committed, so whoever reads a range of time once and for all must not reach as far as any
transaction that is still in progress. The range ends `MARGIN` before the clock was read, and is read once every
transaction that had begun to write by then is over: what is dated earlier is then committed, or never will be. The
margin covers rows dated by a process, before their transaction first wrote, and clocks that differ.
"""

import time
from datetime import datetime, timedelta

from django.db import connection

MARGIN = timedelta(minutes=10)
WAIT_SECONDS = 30.0
PAUSE_SECONDS = 0.1

_OBSERVE = "SELECT clock_timestamp(), pg_current_xact_id()::text"
_IS_OVER = """
SELECT NOT EXISTS (SELECT FROM pg_snapshot_xip(pg_current_snapshot()) AS running (id) WHERE running.id < %s::xid8)
"""


def final_until(margin: timedelta = MARGIN) -> datetime | None:
    """Wait until nothing can commit any more that is dated before `margin` ago, and return that time.

    Returns None where a transaction goes on writing for more than `WAIT_SECONDS`.
    """
    with connection.cursor() as cursor:
        cursor.execute(_OBSERVE)
        observed_at, last_id = cursor.fetchone()
    return observed_at - margin if _wait_until_over(last_id) else None


def _wait_until_over(last_id: str) -> bool:
    """Wait until every transaction up to this one is over; False if one takes too long."""
    deadline = time.monotonic() + WAIT_SECONDS
    while not _is_over(last_id):
        if time.monotonic() > deadline:
            return False
        time.sleep(PAUSE_SECONDS)
    return True


def _is_over(last_id: str) -> bool:
    with connection.cursor() as cursor:
        cursor.execute(_IS_OVER, [last_id])
        return bool(cursor.fetchone()[0])
