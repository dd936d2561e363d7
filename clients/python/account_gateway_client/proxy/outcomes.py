"""Looks up what calls cost whose answer did not say so: streams that were left, lost answers, errors behind the gateway."""

import asyncio
import time
from collections.abc import Mapping
from contextlib import suppress
from datetime import datetime
from typing import Any
from urllib.parse import quote

from anyio import move_on_after

from account_gateway_client.errors import GatewayError
from account_gateway_client.proxy.spending import CallName, Entry, Spending
from account_gateway_client.proxy.upstream import Upstream

FIRST_PAUSE_SECONDS, LONGEST_PAUSE_SECONDS = 0.2, 30.0
# A proof serves for a minute. What the gateway has no record of after two, it can never take.
NEVER_TAKEN_SECONDS = 120.0
# How far the clocks of this computer and of the gateway may be apart.
CLOCK_SECONDS = 90.0
LISTED = 100
# How long one look may take: a connection that was cut off by a change of networks says nothing.
LOOK_SECONDS = 30.0


class Outcomes:
    """Asks the gateway's usage records, more seldom the longer an outcome is open. Needs the scope `usage:read`."""

    def __init__(self, upstream: Upstream, spending: Spending) -> None:
        self._upstream = upstream
        self._spending = spending
        self._wanted = asyncio.Event()
        self._changed = asyncio.Event()

    def want(self) -> None:
        """Look at once."""
        self._wanted.set()

    def changed(self) -> None:
        """Wake the waiters: a call has ended or was settled."""
        self._changed.set()

    async def settled(self, seconds: float) -> None:
        """Wait until no outcome is open, or until the time is up."""
        self.want()
        with move_on_after(seconds):
            while self._spending.awaiting():
                await self.change()

    async def change(self) -> None:
        """Wait until a call has ended or was settled."""
        self._changed.clear()
        await self._changed.wait()

    async def watch(self) -> None:
        """Look whenever an outcome is open, for as long as the proxy runs."""
        pause = FIRST_PAUSE_SECONDS
        while True:
            if not self._spending.awaiting():
                await self._wanted.wait()
            with move_on_after(pause):
                await self._wanted.wait()
                pause = FIRST_PAUSE_SECONDS
            self._wanted.clear()
            with suppress(Exception), move_on_after(LOOK_SECONDS):  # the next look may find the gateway there
                await self._look()
            pause = min(2 * pause, LONGEST_PAUSE_SECONDS)

    async def _look(self) -> None:
        awaiting = {name: (entry, entry.attempts) for name, entry in self._spending.awaiting().items()}
        for name, (entry, attempts) in awaiting.items():
            if entry.record_id is not None:
                with suppress(GatewayError):  # the others are still looked up
                    record = await self._upstream.read(f"/v1/usage/{quote(entry.record_id, safe='')}")
                    self._conclude(name, entry, attempts, [record])
        unnamed = {name: found for name, found in awaiting.items() if found[0].record_id is None}
        if unnamed:
            listed = (await self._upstream.read(f"/v1/usage?limit={LISTED}"))["data"]
            for name, (entry, attempts) in unnamed.items():
                records = [record for record in listed if _is_of(record, name, entry)]
                if records or len(listed) < LISTED or _began(listed[-1]) < entry.begun_at - CLOCK_SECONDS:
                    self._conclude(name, entry, attempts, records)

    def _conclude(self, name: CallName, entry: Entry, attempts: int, records: list[dict[str, Any]]) -> None:
        """Count what the records tell of a call, unless another attempt of it began while they were read."""
        if entry.attempts != attempts or any(record["status"] in ("held", "reconciling") for record in records):
            return
        charge = sum(record["chargedMicrousd"] for record in records)
        may_come = entry.record_id is None and (entry.is_lost or not records)
        if charge == 0 and may_come and time.monotonic() < entry.sent_at + NEVER_TAKEN_SECONDS:
            return
        self._spending.resolve(name, charge)
        self.changed()


def _is_of(record: Mapping[str, Any], name: CallName, entry: Entry) -> bool:
    is_recent = _began(record) > entry.begun_at - CLOCK_SECONDS
    return is_recent and (record["route"], record["idempotencyKey"]) == name


def _began(record: Mapping[str, Any]) -> float:
    return datetime.fromisoformat(record["createdAt"].replace("Z", "+00:00")).timestamp()  # as Python 3.10 reads it
