"""Seal closed records: hash them, so that erasing or rewriting one is detected. Not on the hot path.

A row is dated before it is committed, so a seal must not reach as far as any transaction that is still in progress. It
ends `MARGIN` before the clock was read, and is made once every transaction that had begun to write by then is over:
what is dated earlier is then committed, or never will be. The margin covers rows dated by a process, before their
transaction first wrote, and clocks that differ.
"""

import logging
import time
from datetime import datetime, timedelta

from django.db import connection

log = logging.getLogger("billing.seals")

MARGIN = timedelta(minutes=10)
WAIT_SECONDS = 30.0
PAUSE_SECONDS = 0.1

_OBSERVE = "SELECT clock_timestamp(), pg_current_xact_id()::text"
_IS_OVER = """
SELECT NOT EXISTS (SELECT FROM pg_snapshot_xip(pg_current_snapshot()) AS running (id) WHERE running.id < %s::xid8)
"""


def seal(*, margin: timedelta = MARGIN) -> str | None:
    """Seal what became final until `margin` ago; return the new end of the chain in hex, None where nothing was
    sealed."""
    with connection.cursor() as cursor:
        cursor.execute(_OBSERVE)
        observed_at, last_id = cursor.fetchone()
        if not _wait_until_over(last_id):
            log.warning("nothing was sealed: a transaction has been writing for more than %d s", WAIT_SECONDS)
            return None
        return seal_until(observed_at - margin)


def _wait_until_over(last_id: str) -> bool:
    """Wait until every transaction up to this one is over; False where one goes on for too long."""
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


def seal_until(ends_at: datetime) -> str | None:
    """Seal what became final before `ends_at`, of which the caller knows that it is all committed; return as `seal`."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT encode(billing_seal_until(%s), 'hex')", [ends_at])
        chain: str | None = cursor.fetchone()[0]
    if chain is not None:
        log.info("sealed until %s: %s", ends_at.isoformat(), chain)
    return chain
