"""Find the time up to which all rows are committed. Not on the hot path.

A row gets its timestamp before it is committed. A reader that reads each time range only once must therefore stop
before the timestamp of any transaction in progress. The range ends `MARGIN` before the clock was read, and is read
after all transactions that had started writing by then have ended: every row with an earlier timestamp is then
committed or rolled back. The margin covers differing clocks, and rows that a process timestamps before its
transaction's first write.
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
    """Wait until no row dated earlier than `margin` ago can still commit, and return that time.

    Returns None if a transaction keeps writing for more than `WAIT_SECONDS`.
    """
    with connection.cursor() as cursor:
        cursor.execute(_OBSERVE)
        observed_at, last_id = cursor.fetchone()
    return observed_at - margin if _wait_until_over(last_id) else None


def _wait_until_over(last_id: str) -> bool:
    """Wait until every transaction up to this one has ended; return False if one takes too long."""
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
