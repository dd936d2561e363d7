"""The second round trip of a metered call: delivers its closing to the ledger, at most once.

What the closing says, `billing.operations.closings` builds. It outlives its request and, through the journal, its process. While the ledger cannot be written, the closing is
retried. Only one that its own function refuses for its content is given up; the call then goes to review after its deadline.
An answer to another statement decides nothing.
"""

import asyncio
import logging
import time
from collections.abc import Iterator
from itertools import chain, repeat
from typing import Any, TypeVar

import psycopg

from billing.operations import closings
from billing.operations.closings import Closing
from billing.operations.ledger import CloseOutcome, Release, Settlement
from gateway.core import database
from gateway.core.runtime.background import spawn
from inference.metering import recent
from inference.metering.journal import Entry

log = logging.getLogger("inference.closing")

CLIENT_WAIT_SECONDS = 5.0
"""How long a client waits for its charge to be recorded; it gets its answer either way."""

PAUSES_SECONDS = (0.05, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0, 20.0)

UNKNOWN_SECONDS = 300.0
"""How long a hold that is not found may still appear, after a stalled disk or a hung database recovers: longer only while
commits wait for a synchronous standby."""

Row = TypeVar("Row")


async def deliver(entry: Entry, closing: Closing[Row]) -> Row | None:
    """Close a call and wait briefly for the result. Return None if the closing is still being retried."""
    entry.note_closing(closing.note)
    try:
        row = await _attempt(entry, closing, CLIENT_WAIT_SECONDS)
    except Exception as error:  # noqa: BLE001 - the retry handles each kind
        log.warning("closing is retried (%s: %s): %r", type(error).__name__, error, closing.note)
        spawn(_persist(entry, closing))
        return None
    if isinstance(row, Settlement):
        if row.overrun_microusd:
            log.error("%s: cost %d micro-USD beyond its hold", closing.usage_id, row.overrun_microusd)
        if row.outcome not in (CloseOutcome.SETTLED, CloseOutcome.ALREADY, CloseOutcome.UNKNOWN):
            log.error("%s: was %s before it could be charged", closing.usage_id, row.outcome)
    return row


def release_unknown(entry: Entry, release: Closing[Release]) -> None:
    """Release, in the background, a hold that may have been placed or may still be."""
    spawn(_release_unknown(entry, release))


async def _persist(entry: Entry, closing: Closing[Any]) -> None:
    for pause in _pauses():
        try:
            await _attempt(entry, closing)
        except Exception as error:
            if isinstance(error, psycopg.Error) and closings.is_refused(closing, error):
                log.exception("not closed; it goes to review after its deadline: %r", closing.note)
                entry.done()
                return
            # A full disk, a failover, a lock: each is temporary.
            log.warning("closing is retried (%s: %s): %r", type(error).__name__, error, closing.note)
            await asyncio.sleep(pause)
        else:
            return


async def _attempt(entry: Entry, closing: Closing[Row], wait_seconds: float | None = None) -> Row:
    row = await database.run(closing.element, wait_seconds)
    entry.done()
    recent.remember(closing, row)
    return row


async def _release_unknown(entry: Entry, release: Closing[Release]) -> None:
    until = time.monotonic() + UNKNOWN_SECONDS
    for pause in _pauses():
        try:
            may_appear = time.monotonic() <= until or await database.commits_wait()  # before it is looked for
            outcome = (await database.run(release.element)).outcome
        except Exception as error:  # noqa: BLE001 - as above
            log.warning("release is retried (%s: %s): %r", type(error).__name__, error, release.note)
        else:
            if outcome is not CloseOutcome.UNKNOWN or not may_appear:
                break
        await asyncio.sleep(pause)
    entry.done()


def _pauses() -> Iterator[float]:
    return chain(PAUSES_SECONDS, repeat(PAUSES_SECONDS[-1]))
