"""Remembers the calls that this process closed lately, and looks for them in a database that begins a new history.

After a failover to an asynchronous standby, the new primary lacks what was committed last. A call that is open there is closed again,
as its receipt says. A call that is not there can only be reported: each with what it was charged.
"""

import asyncio
import logging
import time
from collections import deque
from typing import Any, NamedTuple

import orjson

from billing.operations import closings
from billing.operations.closings import Closing
from billing.operations.ledger import CloseOutcome, Settlement
from billing.rules.owners import Owner
from gateway.core import database

log = logging.getLogger("inference.recent")

REMEMBERED_SECONDS = 600.0
"""An asynchronous standby that is further behind loses receipts that nobody names."""

CALLS_MAX = 50_000
"""About 30 MB at most. A process that closes more in REMEMBERED_SECONDS remembers the latest."""

CHUNK = 1000
PAUSES_SECONDS = (0.2, 1.0, 2.0, 5.0, 10.0, 20.0)

STATES = "SELECT id, state FROM billing_reservation WHERE id = ANY ($1::text[])"


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


_closed: deque[Closed] = deque(maxlen=CALLS_MAX)


def remember(closing: Closing[Any], row: Any) -> None:
    """Remember a closing that the database answered with `row`. One whose call is unknown there is reported at once."""
    now = time.monotonic()
    charge = row.charge_microusd if isinstance(row, Settlement) else None
    closed = Closed(now, closing.element.owner, closing.note, charge)  # type: ignore[arg-type] # a closing's is an Owner
    if getattr(row, "outcome", row) is CloseOutcome.UNKNOWN:
        _report(closed)
        return
    while _closed and _closed[0].at < now - REMEMBERED_SECONDS:
        _closed.popleft()
    _closed.append(closed)


async def compare() -> None:
    """Close again what is open, and report what is missing. Retries until each call was looked for once."""
    left = list(_closed)
    log.warning("the database begins a new history: looking for the %d calls that were closed last", len(left))
    failures = 0
    while left:
        try:
            await _compare({closed.usage_id: closed for closed in left[:CHUNK]})
        except Exception as error:  # noqa: BLE001 - the new primary may fail too
            log.warning("calls could not be looked for (%s: %s)", type(error).__name__, error)
            await asyncio.sleep(PAUSES_SECONDS[min(failures, len(PAUSES_SECONDS) - 1)])
            failures += 1
        else:
            del left[:CHUNK]


async def _compare(calls: dict[str, Closed]) -> None:
    async with database.ledger_connection() as connection:
        states = dict(await connection.run(STATES, [list(calls)]))
    for usage_id in calls.keys() & states.keys():
        if states[usage_id] in ("dispatched", "review"):
            await _close_again(calls[usage_id])
        elif states[usage_id] == "released" and calls[usage_id].charge_microusd is not None:
            _report(calls[usage_id])
    for usage_id in calls.keys() - states.keys():
        _report(calls[usage_id])


async def _close_again(closed: Closed) -> None:
    outcome = await database.run(closings.again(closed.owner, closed.note))
    log.warning("%s: the database had lost its closing; closed again: %s", closed.usage_id, outcome)


def _report(closed: Closed) -> None:
    """Log a call that the database lost after it was closed. One that was released cost nobody anything."""
    noted, (kind, key) = orjson.loads(closed.note), closed.owner
    if noted["action"] == "settle":
        charge = noted["cost"] if closed.charge_microusd is None else closed.charge_microusd
        log.critical(
            "%s: the database lost this call of %s %s, charged %d micro-USD", closed.usage_id, kind, key, charge
        )
    elif noted["action"] == "review":
        delivered = noted["evidence"] or "nothing known"
        log.critical(
            "%s: the database lost this call of %s %s, left to review; delivered: %s",
            closed.usage_id,
            kind,
            key,
            delivered,
        )


database.on_new_history(compare)
