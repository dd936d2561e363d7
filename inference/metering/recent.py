"""Remembers the calls that this process closed lately, and looks for them in a database that begins a new history.

After a failover to an asynchronous standby, the new primary lacks what was committed last. A call that is open there is closed again,
as its receipt says. A call that is not there can only be reported: each with what it was charged, in the log and to operators.
"""

import asyncio
import logging
import time
from collections import deque
from typing import Any, NamedTuple

import orjson

from billing.operations import closings, lost_receipts
from billing.operations.closings import Closing
from billing.operations.ledger import CloseOutcome, Settlement
from billing.operations.lost_receipts import Lost
from billing.rules.owners import Owner
from gateway.core import database
from gateway.core.database.connection import ANSWER_SECONDS
from gateway.core.runtime.background import spawn

log = logging.getLogger("inference.recent")

REMEMBERED_SECONDS = 600.0
"""An asynchronous standby that is further behind loses receipts that nobody names."""

CALLS_MAX = 50_000
"""About 30 MB at most. A process that closes more in REMEMBERED_SECONDS remembers the latest."""

LATE_SECONDS = ANSWER_SECONDS
"""How long a former primary that still runs may confirm the closings that it got before the new one was met."""

CHUNK = 1000
PAUSES_SECONDS = (0.2, 1.0, 2.0, 5.0, 10.0, 20.0)

STATES = "SELECT id, state, review_reason FROM billing_reservation WHERE id = ANY ($1::text[])"


class Closed(NamedTuple):
    """A closing that the database confirmed, as it is noted in a journal, and the charge of a settlement."""

    at: float
    owner: Owner
    note: bytes
    charge_microusd: int | None

    @property
    def usage_id(self) -> str:
        """Return the call's id."""
        return str(orjson.loads(self.note)["usage_id"])

    def is_review_for(self, reason: str | None) -> bool:
        """Whether the closing left the call to review for this reason."""
        noted = orjson.loads(self.note)
        return noted["action"] == "review" and noted["reason"] == reason


_closed: deque[Closed] = deque(maxlen=CALLS_MAX)
_lost: deque[Lost] = deque()
"""Calls that are named in the log, and still to be recorded for operators."""


def remember(closing: Closing[Any], row: Any) -> None:
    """Remember a closing that the database answered with `row`. One whose call is unknown there is reported at once."""
    now = time.monotonic()
    charge = row.charge_microusd if isinstance(row, Settlement) else None
    note = bytes(memoryview(closing.note))  # a copy: orjson's bytes keep the 4 KB that they were written in
    closed = Closed(now, closing.element.owner, note, charge)  # type: ignore[arg-type] # a closing's is an Owner
    if getattr(row, "outcome", row) is CloseOutcome.UNKNOWN:
        _report(closed)
        spawn(_record())
        return
    while _closed and _closed[0].at < now - REMEMBERED_SECONDS:
        _closed.popleft()
    _closed.append(closed)


async def compare() -> None:
    """Close again what is open, and report what is missing: of the calls closed so far, then of those that the former primary
    confirmed meanwhile."""
    met_at = time.monotonic()
    log.warning("the database begins a new history: looking for the %d calls that were closed last", len(_closed))
    await _look_for(deque(_closed))
    await _record()
    await asyncio.sleep(met_at + LATE_SECONDS - time.monotonic())
    await _look_for(deque(closed for closed in _closed if closed.at >= met_at))
    await _record()


async def _look_for(left: deque[Closed]) -> None:
    """Look for each call once. Retries after failures."""
    failures = 0
    while left:
        calls = [left.popleft() for _ in range(min(CHUNK, len(left)))]
        if failed := await _compare(calls):
            left.extend(failed)
            await asyncio.sleep(PAUSES_SECONDS[min(failures, len(PAUSES_SECONDS) - 1)])
            failures += 1


async def _compare(calls: list[Closed]) -> list[Closed]:
    """Compare calls up to the first that fails, and return what is left, that one last: it keeps no other waiting."""
    done = 0
    try:
        async with database.ledger_connection() as connection:
            rows = await connection.run(STATES, [[closed.usage_id for closed in calls]])
        states = {usage_id: (state, reason) for usage_id, state, reason in rows}
        for closed in calls:
            await _restore(closed, *states.get(closed.usage_id, (None, None)))
            done += 1
    except Exception as error:  # noqa: BLE001 - the new primary may fail too
        reason = f"{calls[done].usage_id}: {type(error).__name__}: {error}"
        log.warning("%d calls are still to be looked for (%s)", len(calls) - done, reason)
        return [*calls[done + 1 :], calls[done]]
    return []


async def _restore(closed: Closed, state: str | None, review_reason: str | None) -> None:
    if state == "dispatched" or (state == "review" and not closed.is_review_for(review_reason)):
        await _close_again(closed)
    elif state is None or (state == "released" and closed.charge_microusd is not None):
        _report(closed)


async def _close_again(closed: Closed) -> None:
    outcome = await database.run(closings.again(closed.owner, closed.note))
    log.warning("%s: the database had lost its closing; closed again: %s", closed.usage_id, outcome)


async def _record() -> None:
    """Record what was lost in the new primary, for operators. Retries after failures."""
    failures = 0
    while _lost:
        part = [_lost.popleft() for _ in range(min(CHUNK, len(_lost)))]
        try:
            await lost_receipts.record(part)
        except Exception as error:  # noqa: BLE001 - the new primary may fail too
            _lost.extendleft(reversed(part))
            log.warning("%d lost calls are still to be recorded (%s: %s)", len(_lost), type(error).__name__, error)
            await asyncio.sleep(PAUSES_SECONDS[min(failures, len(PAUSES_SECONDS) - 1)])
            failures += 1


def _report(closed: Closed) -> None:
    """Log a call that the database lost after it was closed, and have it recorded. One that was released cost nobody anything."""
    noted, (kind, key) = orjson.loads(closed.note), closed.owner
    if noted["action"] == "settle":
        charge = noted["cost"] if closed.charge_microusd is None else closed.charge_microusd
        log.critical(
            "%s: the database lost this call of %s %s, charged %d micro-USD", closed.usage_id, kind, key, charge
        )
        _lost.append(Lost(closed.usage_id, closed.owner, charge, None))
    elif noted["action"] == "review":
        delivered = noted["evidence"] or "nothing known"
        log.critical(
            "%s: the database lost this call of %s %s, left to review; delivered: %s",
            closed.usage_id,
            kind,
            key,
            delivered,
        )
        _lost.append(Lost(closed.usage_id, closed.owner, None, noted["evidence"]))


database.on_new_history(compare)
