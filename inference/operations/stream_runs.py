"""A metered stream from its first byte to its receipt.

No database connection is held while it runs. However it ends, its money is looked after in a task of its own:

- the upstream says that it is done: charged by its usage, then the terminator and the receipt go out
- it reaches the call's output limit and goes on: cut, charged by what was delivered
- the upstream breaks off: an error event, and reconciliation by what was delivered
- the client leaves, or may not go on: the upstream call is cancelled, and what was delivered is charged
"""

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Coroutine, Mapping
from dataclasses import replace
from typing import Any, TypeVar

from billing.operations import closings
from billing.rules.quantities import MalformedUsage, Quantities
from gateway.api.background import spawn
from gateway.contract.errors import ApiError, UpstreamError, UpstreamInvalid
from inference.adapters.base import Chunk, Stream, StreamBroken
from inference.operations import closing
from inference.operations.answers import receipt_comment
from inference.operations.call import Call
from inference.operations.checkpoints import Checkpoints
from inference.operations.recording import Recording
from inference.rules.delivery import Delivered
from inference.rules.usage import MissingUsage

Closed = TypeVar("Closed")


class StreamRun:
    """The events of one open stream. Whoever iterates it must `aclose` it, also where iteration never began."""

    def __init__(self, call: Call, stream: Stream, headers: Mapping[str, str]) -> None:
        self._call = call
        self._stream = stream
        self._delivered = Delivered()
        self._usage: Mapping[str, Any] | None = None
        self._checkpoints = Checkpoints(call, self._used, self._hang_up)
        self._recording = Recording(headers)
        self._looked_after = False
        self._events = self._run()

    def __aiter__(self) -> AsyncIterator[bytes]:
        return self._events

    async def aclose(self) -> None:
        """End the stream where it stands: cancel what is under way upstream, and charge what was delivered."""
        await self._events.aclose()
        if not self._looked_after:
            self._looked_after = True
            spawn(self._settle_for_absent())

    async def _run(self) -> AsyncGenerator[bytes, None]:
        broken = None
        try:
            async for chunk in self._stream:
                if self._checkpoints.ending:
                    break
                self._take(chunk)
                if self._is_beyond_limit:
                    yield await self._cut()
                    return
                if chunk.data:
                    self._recording.add(chunk.data)
                    yield chunk.data
        except StreamBroken as error:
            broken = error
        yield await self._end(broken)

    async def _end(self, broken: StreamBroken | None) -> bytes:
        if self._checkpoints.ending:
            return await self._stop(self._checkpoints.ending)
        return await (self._break_off(broken) if broken else self._finish())

    def _take(self, chunk: Chunk) -> None:
        self._delivered.add(chunk.output_deltas, chunk.output_bytes)
        if chunk.usage is not None:
            self._usage = chunk.usage
        self._checkpoints.note()

    @property
    def _is_beyond_limit(self) -> bool:
        return self._delivered.tokens_at_least > self._call.ready.sized.output_tokens

    async def _finish(self) -> bytes:
        """Charge a stream that came to its end; the client learns the amount."""
        terminator = self._stream.terminator
        try:
            used = self._read_usage()
        except MissingUsage:
            return await self._leave_open(terminator, "usage_missing")
        except MalformedUsage as malformed:
            error = UpstreamInvalid(private=f"usage: {malformed}")
            return await self._leave_open(self._error_event(error), "usage_malformed")
        return await self._settle(terminator, used, "upstream")

    async def _cut(self) -> bytes:
        """End a stream that goes on beyond the limit that the caller's maximum bought."""
        ending = self._stream.cut_event() + self._stream.terminator
        return await self._settle(ending, *self._best_known())

    async def _stop(self, ending: ApiError) -> bytes:
        """End a stream that may not go on."""
        return await self._settle(self._error_event(ending), *self._best_known())

    def _hang_up(self) -> None:
        """Wake a stream that may not go on, should it wait for its upstream."""
        spawn(self._stream.close())

    async def _break_off(self, broken: StreamBroken) -> bytes:
        return await self._leave_open(self._error_event(broken.error), broken.reason)

    async def _settle_for_absent(self) -> None:
        error = UpstreamError("The stream ended early, because its client left.")
        await self._settle(self._error_event(error), *self._best_known())

    async def _settle(self, ending: bytes, used: Quantities, basis: str) -> bytes:
        expected = receipt_comment(self._call.usage_id, self._call.charge_microusd(used))
        replay = self._recording.ended_by(ending + expected)
        charged = await self._close(closing.settle(self._call, used, basis, replay))
        return ending + receipt_comment(self._call.usage_id, charged)

    async def _leave_open(self, ending: bytes, reason: str) -> bytes:
        """Leave the charge to reconciliation, with what was delivered as evidence."""
        ending += receipt_comment(self._call.usage_id, None)
        review = closings.review(
            owner=self._call.owner,
            usage_id=self._call.usage_id,
            reason=reason,
            evidence=self._call.evidence(self._used()),
            replay=self._recording.ended_by(ending),
            deployment=self._call.deployment_id,
        )
        closed = closing.close(self._call.entry, review)
        await self._close(closed)
        return ending

    async def _close(self, ending: Coroutine[Any, Any, Closed]) -> Closed:
        """Hang up upstream and close the call, whoever is cancelled meanwhile."""
        self._looked_after = True
        self._checkpoints.stop()
        return await asyncio.shield(spawn(self._hang_up_and(ending)))

    async def _hang_up_and(self, ending: Coroutine[Any, Any, Closed]) -> Closed:
        await self._stream.close()
        return await ending

    def _best_known(self) -> tuple[Quantities, str]:
        """Take the upstream's own count where it gave one before it was stopped, else what was delivered."""
        try:
            return self._read_usage(), "upstream"
        except (MissingUsage, MalformedUsage):
            return self._used(), "delivered"

    def _read_usage(self) -> Quantities:
        rules, prices = self._call.intake.rules, self._call.ready.price.prices
        return rules.read_usage(self._usage or {}, self._call.demand, prices)

    def _used(self) -> Quantities:
        used = self._call.demand.delivered_so_far(self._delivered)
        most = self._call.ready.sized.output_tokens
        return used if (used.output_tokens or 0) <= most else replace(used, output_tokens=most)

    def _error_event(self, error: ApiError) -> bytes:
        return self._stream.error_event(error, self._call.intake.request.request_id)
