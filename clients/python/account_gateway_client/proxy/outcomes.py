"""Looks up what calls cost whose answer did not say so: streams that were left, lost answers, errors behind the gateway."""

import asyncio
import time
from collections.abc import Mapping
from contextlib import suppress
from datetime import datetime
from typing import Any
from urllib.parse import quote

from anyio import move_on_after

from account_gateway_client.errors import ClientError
from account_gateway_client.proxy.refusals import Refusal
from account_gateway_client.proxy.spending import CallName, Entry, Spending
from account_gateway_client.proxy.upstream import Upstream

FIRST_PAUSE_SECONDS, LONGEST_PAUSE_SECONDS = 0.2, 30.0
# A proof serves for a minute. What the gateway has no record of after two, it can never take.
NEVER_TAKEN_SECONDS = 120.0
# How far the clocks of this computer and of the gateway may be apart.
CLOCK_SECONDS = 90.0
LISTED = 100


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
            with suppress(ClientError, Refusal, LookupError, ValueError):  # the next look may find the gateway there
                await self._look()
            pause = min(2 * pause, LONGEST_PAUSE_SECONDS)

    async def _look(self) -> None:
        awaiting = self._spending.awaiting()
        for name, entry in awaiting.items():
            if entry.usage_id is not None:
                record = await self._upstream.read(f"/v1/usage/{quote(entry.usage_id, safe='')}")
                self._conclude(name, entry, [record])
        unnamed = {name: entry for name, entry in awaiting.items() if entry.usage_id is None}
        if unnamed:
            listed = (await self._upstream.read(f"/v1/usage?limit={LISTED}"))["data"]
            for name, entry in unnamed.items():
                records = [record for record in listed if _is_of(record, name, entry)]
                if records or len(listed) < LISTED or _began(listed[-1]) < entry.begun_at - CLOCK_SECONDS:
                    self._conclude(name, entry, records)

    def _conclude(self, name: CallName, entry: Entry, records: list[dict[str, Any]]) -> None:
        if any(record["status"] in ("held", "reconciling") for record in records):
            return
        charge = sum(record["chargedMicrousd"] for record in records)
        may_come = entry.usage_id is None and (entry.is_lost or not records)
        if charge == 0 and may_come and time.time() < entry.sent_at + NEVER_TAKEN_SECONDS:
            return
        self._spending.resolve(name, charge)
        self.changed()


def _is_of(record: Mapping[str, Any], name: CallName, entry: Entry) -> bool:
    is_recent = _began(record) > entry.begun_at - CLOCK_SECONDS
    return is_recent and (record["route"], record["idempotencyKey"]) == name


def _began(record: Mapping[str, Any]) -> float:
    return datetime.fromisoformat(record["createdAt"].replace("Z", "+00:00")).timestamp()  # as Python 3.10 reads it
