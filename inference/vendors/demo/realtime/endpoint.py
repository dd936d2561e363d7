"""Sessions with the demo backend, inside this process."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import suppress

import orjson

from gateway.core.contract.errors import ModelUnavailable
from inference.interface.answer import Answer, Chunk
from inference.interface.upstream import Attempt, Outcome, Stream
from inference.routes.realtime.bound import BoundedSession
from inference.routes.realtime.stream import SessionStream
from inference.vendors.demo.endpoint import DemoEndpoint
from inference.vendors.demo.realtime.conversation import Conversation
from inference.vendors.demo.realtime.speech import Speech

QUEUED_EVENTS_MAX = 64


class DemoRealtime(DemoEndpoint[BoundedSession]):
    """Opens sessions."""

    async def answer(self, attempt: Attempt[BoundedSession]) -> Answer:
        """Refuse: a session has no complete response."""
        raise ModelUnavailable(private="a session was sent as a call")

    async def open_stream(self, attempt: Attempt[BoundedSession]) -> Stream | Outcome:
        attempt.call.on_send()
        return DemoSession(attempt)


class DemoSession(SessionStream):
    """One session. Its events wait in a queue that the gateway reads."""

    def __init__(self, attempt: Attempt[BoundedSession]) -> None:
        self._conversation = Conversation(attempt.call.public_id, attempt.call.public_model)
        self._options = attempt.target.options
        self._events: asyncio.Queue[bytes] = asyncio.Queue(QUEUED_EVENTS_MAX)
        self._speaking: asyncio.Task[None] | None = None
        self._events.put_nowait(orjson.dumps(self._conversation.opened()))

    async def __aiter__(self) -> AsyncIterator[Chunk]:
        while True:
            yield Chunk(await self._events.get())

    async def send(self, frame: bytes, *, is_binary: bool = False) -> None:
        """Process an event, and queue the events that follow."""
        event = orjson.loads(frame)
        if event["type"] == "response.create":
            await self._speak(event.get("response") or {})
        elif event["type"] == "response.cancel":
            await self._stop()
        else:
            for answer in self._conversation.take(event):
                await self._events.put(orjson.dumps(answer))

    async def close(self) -> None:
        self.on_end = None
        if self._speaking is not None:
            self._speaking.cancel()

    async def _speak(self, response: dict[str, object]) -> None:
        if self._speaking is not None and not self._speaking.done():
            await self._events.put(orjson.dumps(self._conversation.refusal("conversation_already_has_active_response")))
            return
        self._speech = Speech(self._conversation, response, self._options)
        self._speaking = asyncio.create_task(self._say(self._speech))

    async def _say(self, speech: Speech) -> None:
        async for event in speech.events():
            await self._events.put(orjson.dumps(event))

    async def _stop(self) -> None:
        if self._speaking is None or self._speaking.done():
            await self._events.put(orjson.dumps(self._conversation.refusal("response_cancel_not_active")))
            return
        self._speech.is_cancelled = True
        with suppress(asyncio.CancelledError):
            await asyncio.shield(self._speaking)
