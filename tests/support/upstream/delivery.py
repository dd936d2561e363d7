"""Sends a response's bytes: whole, slowly, in odd pieces, or cut off."""

import asyncio
from collections.abc import Iterator

from aiohttp import web

from tests.support.upstream.call import Call, PeerLeft
from tests.support.upstream.stream import DONE, FRAMINGS, Frame

POLL_SECONDS = 0.02
CUT_SECONDS = 0.2
"""The pause before a cut. A client that sees it before it has read what was sent may drop that, as if nothing had come."""
PIECE_SECONDS = 0.001
"""The pause between the pieces of one event, so that each arrives in its own segment."""
PACED_PIECES = 8
COALESCED_EVENTS = 5


async def deliver_body(call: Call, payload: bytes, content_type: str) -> web.StreamResponse:
    """Send a whole body, or as much of it as the behavior allows."""
    response = await open_answer(call, content_type, length=len(payload))
    if call.behaviour.hang or call.behaviour.cut:
        await response.write(payload[: len(payload) // 2])
        await _stop(call)
    call.entry.outcome = (
        "refused" if call.behaviour.status >= 400 else "complete"
    )  # a peer that has it may look at once
    await response.write(payload)
    await response.write_eof()
    return response


async def deliver_stream(call: Call, frames: Iterator[Frame]) -> web.StreamResponse:
    """Send events one by one, counting each token once it is sent."""
    response = await open_answer(call, "text/event-stream; charset=utf-8")
    writer = _EventWriter(call, response)
    for frame in frames:
        await writer.send(frame)
    if call.behaviour.cut == "before_done":
        await writer.flush()
        await _stop(call)
    if call.behaviour.done and call.entry.path.endswith("/chat/completions"):
        await writer.write(DONE)
    await writer.flush()
    call.entry.outcome = "complete"
    await response.write_eof()
    return response


async def stay_silent(call: Call) -> None:
    """Send nothing until the peer leaves."""
    call.entry.outcome = "hung"
    while True:
        call.require_peer()
        await asyncio.sleep(POLL_SECONDS)


async def cut_off(call: Call) -> None:
    """Close the connection before the response is complete."""
    call.entry.outcome = "cut"
    await asyncio.sleep(CUT_SECONDS)
    call.reset() if call.behaviour.reset else call.close()
    raise PeerLeft


async def _stop(call: Call) -> None:
    await (stay_silent if call.behaviour.hang else cut_off)(call)


async def open_answer(call: Call, content_type: str, length: int | None = None) -> web.StreamResponse:
    """Send the head of a response."""
    response = web.StreamResponse(status=call.behaviour.status, headers=call.headers())
    response.headers["Content-Type"] = call.behaviour.content_type or content_type
    if call.behaviour.retry_after_seconds is not None:
        response.headers["Retry-After"] = str(call.behaviour.retry_after_seconds)
    response.content_length = length
    call.require_peer()
    await response.prepare(call.request)
    return response


class _EventWriter:
    """Writes events in the behavior's framing, at its pace, up to its cut."""

    def __init__(self, call: Call, response: web.StreamResponse) -> None:
        self.call = call
        self.response = response
        self.split = FRAMINGS[call.behaviour.framing]
        self.held: list[bytes] = []
        self.token_delay_seconds = call.behaviour.token_delay_ms / 1000
        self.sent_events = 0

    async def send(self, frame: Frame) -> None:
        """Send one event, with its pause before it and the behavior's cut after it."""
        if frame.tokens and self.call.entry.completion_tokens:
            await self.call.gate.wait()
            if self.token_delay_seconds:
                await asyncio.sleep(self.token_delay_seconds)
        await self._cut_inside(frame)
        await self.write(frame.encode())
        self.call.entry.completion_tokens += frame.tokens
        self.sent_events += 1
        await self._cut_behind(frame)

    async def write(self, event: bytes) -> None:
        """Write one encoded event in pieces, or buffer it for a coalesced write."""
        self.call.require_peer()
        pieces = self.split(event)
        if self.call.behaviour.framing == "coalesced":
            self.held += pieces
            if len(self.held) >= COALESCED_EVENTS:
                await self.flush()
            return
        pause_seconds = PIECE_SECONDS if len(pieces) <= PACED_PIECES else 0
        for piece in pieces:
            await self.response.write(piece)
            if len(pieces) > 1:
                await asyncio.sleep(pause_seconds)

    async def flush(self) -> None:
        """Write what a coalesced framing has buffered."""
        if self.held:
            await self.response.write(b"".join(self.held))
            self.held.clear()

    async def _cut_inside(self, frame: Frame) -> None:
        if self.call.behaviour.cut == "mid_event" and self._is_halfway(frame):
            await self.response.write(frame.encode()[:-20])
            await _stop(self.call)

    async def _cut_behind(self, frame: Frame) -> None:
        behaviour = self.call.behaviour
        first = "first_event" in {behaviour.cut, behaviour.hang} and self.sent_events == 1
        middle = behaviour.cut in {"mid_stream", "mid_body"} or behaviour.hang == "mid_body"
        if first or (middle and self._is_halfway(frame)):
            await self.flush()
            await _stop(self.call)

    def _is_halfway(self, frame: Frame) -> bool:
        return bool(frame.tokens) and self.call.entry.completion_tokens * 2 >= (self.call.entry.planned_tokens)
