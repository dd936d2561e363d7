"""One session from its first frame to its charge.

Two tasks relay, one per direction, and each writes a frame before it reads the next: a slow reader on one side slows
the other side down. The first event that ends the session decides how it ends. Then responses in progress are cancelled
or finished, their usage is awaited, and the call is closed.
"""

import asyncio
import logging
from collections.abc import Coroutine
from contextlib import suppress
from typing import Any

from gateway.core.contract.errors import ApiError, InternalError, MaxCostExceeded, UpstreamInvalid
from gateway.core.json.strict import dumps, strict_loads
from gateway.core.runtime.background import spawn
from gateway.core.runtime.offload import is_large, offload
from inference.adapters.exchange import NotJSONError, parse_object
from inference.interface.answer import Chunk
from inference.interface.upstream import StreamBroken
from inference.metering.call import Call
from inference.metering.checkpoints import Checkpoints
from inference.routes.realtime import endings
from inference.routes.realtime.allowance import CeilingReached, ResponseInProgress
from inference.routes.realtime.bound import BoundedSession
from inference.routes.realtime.charging import charge
from inference.routes.realtime.client_events import ClientEvents, Event
from inference.routes.realtime.client_socket import ClientGone, ClientSocket
from inference.routes.realtime.endings import Ending
from inference.routes.realtime.reauthorization import Authorization
from inference.routes.realtime.service_events import error_event
from inference.routes.realtime.session_timer import SessionTimer
from inference.routes.realtime.settings import Settings
from inference.routes.realtime.state import State
from inference.routes.realtime.stream import BinaryChunk, SessionStream
from inference.routes.realtime.upstream_events import Reaction, UpstreamEvents

log = logging.getLogger("inference.calls")


async def parsed(frame: bytes) -> Event:
    """Parse a frame of the client, a large one off the event loop. Raises InvalidJson."""
    return await offload(strict_loads, frame) if is_large(frame) else strict_loads(frame)


class Session:
    """An accepted session. `run` always closes its call."""

    def __init__(self, call: Call, stream: SessionStream, client: ClientSocket) -> None:
        self._call, self._stream, self._client = call, stream, client
        assert isinstance(call.request, BoundedSession)
        names = call.plan.call
        self._state = State(names.public_id, names.usage_id, call.request, Settings(names.public_model))
        self._client_events = ClientEvents(self._state)
        self._upstream_events = UpstreamEvents(self._state, self._client_events)
        self._checkpoints = Checkpoints(call, self._state.tally.delivered, self._stop)
        self._authorization = Authorization(call.arrival, call.plan.call.public_model)
        self._timer = SessionTimer(self._authorization, self._end)
        self._ending: asyncio.Future[Ending] = asyncio.get_running_loop().create_future()
        self._quiet = asyncio.Event()

    async def run(self) -> None:
        """Relay until the session ends, and close its call."""
        tasks = [spawn(self._watched(relay())) for relay in (self._from_upstream, self._from_client)]
        self._timer.begin()
        try:
            ending = await self._ending
            self._timer.stop()
            tasks[1].cancel()
            await self._notify_ending(ending)
            await self._wait_for_reports(ending, tasks[0])
        finally:
            self._timer.stop()
            for task in tasks:
                task.cancel()
            self._checkpoints.stop()
            await asyncio.shield(spawn(self._close()))

    def client_left(self) -> None:
        """Record that the client left before the session began."""
        self._end(endings.LEFT)

    async def _close(self) -> None:
        # A task that is cancelled while it waits for the ending cancels that too.
        ending = endings.LEFT if self._ending.cancelled() or not self._ending.done() else self._ending.result()
        await self._stream.close()
        await charge(self._call, self._state, ending)
        with suppress(ClientGone):
            await self._client.close(ending.code, ending.reason)

    def _end(self, ending: Ending) -> None:
        """End the session. Only the first ending counts."""
        if not self._ending.done():
            self._ending.set_result(ending)

    def _stop(self) -> None:
        assert self._checkpoints.ending
        self._end(endings.stopped(self._checkpoints.ending))

    async def _watched(self, relay: Coroutine[Any, Any, None]) -> None:
        """Relay one direction, and end the session when that ends."""
        try:
            await relay
        except ClientGone:
            self._end(endings.LEFT)
        except CeilingReached:
            self._end(endings.spent())
        except StreamBroken as broken:
            self._end(endings.broken(broken.error, broken.reason))
        except Exception:
            log.exception("%s: a session failed unexpectedly", self._call.usage_id)
            self._end(endings.broken(InternalError(), "internal_error"))

    async def _from_client(self) -> None:
        while True:
            frame, is_binary = await self._client.receive()
            self._timer.touch()
            await self._take(frame, is_binary)

    async def _take(self, frame: bytes, is_binary: bool) -> None:
        """Check one frame of the client and forward it, or send the client an error."""
        event: Event = {}
        if self._client_events.is_audio(frame):
            await self._stream.send(frame, is_binary=is_binary)
            return
        try:
            event = await parsed(frame)
            if event.get("type") == "service.reauthorize":
                await self._notify(await self._authorization.renew(event))
                self._timer.begin()
                return
            checked = self._client_events.read(event)
        except ApiError as error:
            await self._notify(self._error_for(error, event))
        except ResponseInProgress:
            message = "What is left of the maximum does not cover another response while one is in progress."
            await self._notify(self._error_for(MaxCostExceeded(message), event))
        else:
            await self._stream.send(dumps(checked), is_binary=is_binary)

    def _error_for(self, error: ApiError, event: Event) -> Event:
        event_id = event.get("event_id")
        return error_event(error, self._client.request_id, event_id if isinstance(event_id, str) else None)

    async def _from_upstream(self) -> None:
        await self._stream.send(dumps(self._upstream_events.opening()))
        self._checkpoints.note(at_once=True)
        async for chunk in self._stream:
            self._timer.touch()
            event = _event_in(chunk)
            if event is None:
                await self._forward(chunk.data, is_binary=True)
            else:
                await self._react(event, self._upstream_events.read(event))
            if self._ending.done() and not self._state.is_busy:
                self._quiet.set()

    async def _react(self, event: Event, reaction: Reaction) -> None:
        if reaction.is_news or self._state.tally.open:
            self._checkpoints.note(at_once=reaction.is_news)
        for requested in reaction.to_upstream if not self._ending.done() else ():
            await self._stream.send(dumps(requested))
        if reaction.is_forwarded:
            await self._notify(self._state.ids.for_client(event))
        for each in reaction.to_client:
            await self._notify(each)
        if reaction.is_spent:
            self._end(endings.spent())

    async def _notify(self, event: Event) -> None:
        await self._forward(dumps(event))

    async def _forward(self, frame: bytes, *, is_binary: bool = False) -> None:
        """Send a frame to the client. A client that has left ends the session, but usage reports are still read."""
        if not self._client.is_open:
            return
        try:
            await self._client.send(frame, is_binary=is_binary)
        except ClientGone:
            self._end(endings.LEFT)

    async def _notify_ending(self, ending: Ending) -> None:
        if ending.error is not None:
            await self._notify(error_event(ending.error, self._client.request_id))

    async def _wait_for_reports(self, ending: Ending, reading: "asyncio.Task[None]") -> None:
        """Wait until responses in progress have ended and their usage is known."""
        if not self._state.is_busy or not ending.patience_seconds:
            return
        if not ending.finishes:
            await self._cancel_responses()
        quiet = asyncio.ensure_future(self._quiet.wait())
        await asyncio.wait({quiet, reading}, timeout=ending.patience_seconds, return_when=asyncio.FIRST_COMPLETED)
        quiet.cancel()

    async def _cancel_responses(self) -> None:
        try:
            for response_id in list(self._state.questions.running):
                await self._stream.send(dumps({"type": "response.cancel", "response_id": response_id}))
        except StreamBroken:
            log.info("%s: the upstream left with its client", self._call.usage_id)


def _event_in(chunk: Chunk) -> Event | None:
    """Parse a frame of the upstream, None for a binary one that is not an event. Clients read an event in a binary frame, too."""
    try:
        return parse_object(chunk.data)
    except NotJSONError as error:
        if isinstance(chunk, BinaryChunk):
            return None
        raise StreamBroken(UpstreamInvalid(private=f"an event that is {error}"), "malformed") from error
