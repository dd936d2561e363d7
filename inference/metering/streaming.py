"""Runs a metered stream from its first byte to its receipt.

No database connection is held while it runs. However it ends, its call is closed in a separate task:

- the upstream finishes: settled by its usage, then the terminator and the receipt are sent
- it continues beyond the call's limit: cut, settled by what was delivered
- the upstream breaks off: an error event, and review with what was delivered as evidence
- the client disconnects, or may not continue: the upstream call is cancelled, and what was delivered is charged

A stream of raw bytes cannot report an error. If it ends early, its connection is aborted after the call is closed, and its
bytes are not stored, because a repeated request would take them for the whole answer.

A chunk that cannot be counted breaks off the stream. An ending that cannot be rendered, or content that cannot be stored, is
omitted. Neither prevents the closing.
"""

import asyncio
import logging
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Mapping
from functools import partial
from typing import Any, TypeVar

from billing.operations import closings
from billing.operations.closings import Closing
from billing.operations.ledger import CloseOutcome, Replay, Settlement
from billing.rules.prices import PriceError
from billing.rules.quantities import MalformedUsage, Quantities
from gateway.core.contract.errors import ApiError, UpstreamError, UpstreamInvalid
from gateway.core.http.draining import ServerStopped
from gateway.core.http.lean import Incomplete
from gateway.core.runtime.background import spawn
from gateway.core.telemetry.causes import Cause
from gateway.core.telemetry.observation import Outcome
from inference.interface.answer import EVENT_STREAM_TYPE, Chunk
from inference.interface.request import StreamedRequest
from inference.interface.upstream import Stream, StreamBroken
from inference.metering import observing, open_streams
from inference.metering.answers import Recording, receipt_comment, receipt_headers, stored_or_nothing, to_store
from inference.metering.call import Call
from inference.metering.checkpoints import Checkpoints
from inference.rules.causes import of_reason
from inference.rules.usage import MissingUsage

log = logging.getLogger("inference.calls")

Row = TypeVar("Row", Settlement, CloseOutcome)

TOGETHER_MAX_BYTES = 16 * 1024
"""Chunks that arrive together are sent together up to this size, a quarter of the server's write buffer."""


class StreamRun:
    """The bytes of one open stream. Its user must call `aclose`, even if iteration never began."""

    def __init__(self, call: Call, request: StreamedRequest, stream: Stream) -> None:
        self._call = call
        self._stream = stream
        self._meter = request.meter()
        self._format = request.stream_format(call.plan.call.public_model, call.plan.call.public_id, self._meter)
        self.headers = {
            "Content-Type": stream.media_type or self._format.media_type,
            **receipt_headers(call.usage_id, call.hold_microusd, None),
        }
        self._checkpoints = Checkpoints(call, self._meter.delivered, self._hang_up)
        self._recording = Recording(self.headers)
        self._is_closed = False
        self._is_cut = False
        self._pieces = self._run()
        open_streams.begin()

    def __aiter__(self) -> AsyncIterator[bytes]:
        return self._pieces

    async def aclose(self) -> None:
        """End the stream now: cancel the upstream call, and charge what was delivered."""
        await self._pieces.aclose()
        if not self._is_closed:
            self._is_closed = True
            spawn(self._charge_disconnected())

    async def _run(self) -> AsyncGenerator[bytes, None]:
        broken = None
        together = bytearray()
        try:
            async for chunk in self._stream:
                if self._checkpoints.ending:
                    break
                self._take(chunk)
                if self._meter.is_beyond_limit:
                    together += self._words(partial(self._format.frame, chunk))
                    break
                together += chunk.data
                if together and (len(together) > TOGETHER_MAX_BYTES or not self._stream.has_next):
                    yield self._recorded(together)
        except StreamBroken as error:
            broken = error
        if together:
            yield self._recorded(together)
        yield await self._end(broken)
        if self._is_cut:
            raise Incomplete

    def _recorded(self, together: bytearray) -> bytes:
        """Return the pending bytes for the client, and record them for a repeated request."""
        data = bytes(together)
        together.clear()
        self._recording.add(data)
        return data

    async def _end(self, broken: StreamBroken | None) -> bytes:
        if self._checkpoints.ending:
            return await self._stop(self._checkpoints.ending)
        if broken:
            return await self._break_off(broken)
        return await (self._cut() if self._meter.is_beyond_limit else self._finish())

    def _take(self, chunk: Chunk) -> None:
        try:
            self._meter.add(chunk)
        except Exception as error:
            log.exception("%s: an event could not be counted", self._call.usage_id)
            raise StreamBroken(UpstreamInvalid(private=f"{type(error).__name__}: {error}"), "malformed") from error
        self._checkpoints.note()

    async def _finish(self) -> bytes:
        """Charge a stream that ended normally, with the charge in the receipt."""
        try:
            used = self._reported()
        except MissingUsage:
            return await self._review(self._terminator(), "usage_missing", Cause.BAD_USAGE)
        except (MalformedUsage, PriceError) as malformed:
            error = UpstreamInvalid(private=f"usage: {malformed}")
            return await self._review(self._error(error), "usage_malformed", Cause.BAD_USAGE)
        return await self._charge(self._terminator(), *used)

    async def _cut(self) -> bytes:
        """End a stream that exceeds the limit that the caller's maximum cost allows."""
        ending = self._early(self._format.cut) + self._terminator()
        return await self._charge(ending, *self._best_known(), cause=Cause.CUT_AT_CEILING)

    async def _stop(self, ending: ApiError) -> bytes:
        """End a stream that may not continue."""
        cause = Cause.SERVER_STOPPED if isinstance(ending, ServerStopped) else Cause.ACCESS_LOST
        return await self._charge(self._error(ending), *self._best_known(), cause=cause)

    def _hang_up(self) -> None:
        """Wake a stream that may not continue, in case it is waiting for its upstream."""
        spawn(self._stream.close())

    async def _break_off(self, broken: StreamBroken) -> bytes:
        return await self._review(self._error(broken.error), broken.reason, of_reason(broken.reason, has_begun=True))

    async def _charge_disconnected(self) -> None:
        error = UpstreamError("The stream ended early because its client disconnected.")
        await self._charge(self._rendered(error), *self._best_known(), cause=Cause.CLIENT_LEFT)

    async def _charge(
        self, ending: bytes, used: Quantities, cost_microusd: int, basis: str, *, cause: str = ""
    ) -> bytes:
        expected = self._receipt(min(cost_microusd, self._call.hold_microusd))
        replay = self._recording.ended_by(ending + expected)
        settle = partial(
            closings.settle,
            cost_microusd=cost_microusd,
            basis=basis,
            quantities=self._call.settled_usage_of(used),
            stored=self._stored(),
        )
        settled = await self._close(settle, replay, Outcome.SETTLED, cause)
        return ending + self._receipt(settled.charge_microusd if settled else None)

    async def _review(self, ending: bytes, reason: str, cause: str) -> bytes:
        """Leave the charge to review, with what was delivered as evidence."""
        ending += self._receipt(None)
        evidence = self._call.evidence(self._meter.delivered())
        review = partial(closings.review, reason=reason, evidence=evidence, stored=self._stored())
        await self._close(review, self._recording.ended_by(ending), Outcome.REVIEW, cause)
        return ending

    async def _close(
        self, build: Callable[..., Closing[Row]], replay: Replay | None, outcome: Outcome, cause: str
    ) -> Row | None:
        """Close the upstream's stream and the call, even if the caller is cancelled meanwhile."""
        self._is_closed = True
        self._checkpoints.stop()
        observing.upstream_done(self._call.observation, cause)
        closed = self._hang_up_and_close(build, replay, outcome, cause)
        return await asyncio.shield(spawn(closed))

    async def _hang_up_and_close(
        self, build: Callable[..., Closing[Row]], replay: Replay | None, outcome: Outcome, cause: str
    ) -> Row | None:
        call = self._call
        try:
            await self._stream.close()
            encrypted = await to_store(replay, call.usage_id)
            ending = build(call.reference, replay=encrypted, function=call.arrival.route.close_function)
            return await call.close(ending, outcome, cause)
        finally:
            open_streams.end()
            call.end(call.request)

    def _reported(self) -> tuple[Quantities, int, str]:
        """Return the upstream's own count, its cost, and the basis 'upstream'."""
        used = self._meter.reported()
        cost_microusd = self._call.cost_microusd(used)
        self._call.report_unpriced(used)
        return used, cost_microusd, "upstream"

    def _best_known(self) -> tuple[Quantities, int, str]:
        """Return the upstream's own count if it sent one before it was stopped, else what was delivered. Only the former
        can exceed the hold, as a loss."""
        try:
            return self._reported()
        except (MissingUsage, MalformedUsage, PriceError):
            used = self._meter.delivered()
            return used, min(self._call.cost_microusd(used), self._call.hold_microusd), "delivered"

    def _error(self, error: ApiError) -> bytes:
        self._call.observation.code = error.code
        return self._rendered(error)

    def _rendered(self, error: ApiError) -> bytes:
        return self._early(lambda: self._format.error(error, self._call.arrival.http.request_id))

    def _early(self, render: Callable[[], bytes]) -> bytes:
        """Render the end of an incomplete stream. A stream that cannot report errors is aborted, and not stored."""
        if not self._format.reports_errors:
            self._is_cut = True
            self._recording.drop()
        return self._words(render)

    def _terminator(self) -> bytes:
        return self._words(lambda: self._format.terminator)

    def _words(self, render: Callable[[], bytes]) -> bytes:
        """Render the end of the stream, or nothing if that fails."""
        try:
            return render()
        except Exception:
            log.exception("%s: the end of the stream could not be rendered", self._call.usage_id)
            return b""

    def _stored(self) -> Mapping[str, Any]:
        """Return what the closing stores of the stream, or nothing if that fails."""
        return stored_or_nothing(self._call.usage_id, self._meter.stored)

    def _receipt(self, charge_microusd: int | None) -> bytes:
        """Render the receipt, if the format has room for one."""
        if self._format.media_type != EVENT_STREAM_TYPE:
            return b""
        return receipt_comment(self._call.usage_id, charge_microusd)
