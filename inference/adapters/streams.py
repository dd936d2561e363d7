"""Reads, checks and rewrites an upstream's event stream, event by event as its bytes arrive."""

import asyncio
from abc import abstractmethod
from collections import deque
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, Self

from gateway.core.outbound.bodies import read_part
from gateway.core.outbound.response import Response
from inference.adapters.errors import broken_by, broken_by_event
from inference.adapters.exchange import NotJSONError, parse_object
from inference.adapters.sse import EVENT_MAX_BYTES, EventSplitter, data_of
from inference.adapters.templates import Run, Templates
from inference.interface.answer import Chunk
from inference.interface.upstream import Attempt, Stream, StreamBroken

STREAM_MAX_BYTES = 256 * 1024 * 1024
CHUNK_MAX_EVENTS = 8
"""The most events of one chunk. Events that arrive together share a chunk; the caller's output limit is checked per chunk."""

_DRAIN_SECONDS = 1.0
_draining: set[asyncio.Task[None]] = set()


class HttpStream(Stream):
    """The body of one response, read as it arrives."""

    @abstractmethod
    async def begin(self) -> None:
        """Wait for the first data, so that an earlier failure can still be answered with a status. Raises the error that breaks
        the stream."""


class EventStream(HttpStream):
    """A stream of server-sent events. A subclass translates them and determines which one is the last.

    With `templates`, events that repeat an earlier `plain` one are passed to `repeated` instead of `translate`. `translate` sets
    `plain` to the written event if that carries a text and depends only on the event that was read.
    """

    event_max_bytes: ClassVar[int] = EVENT_MAX_BYTES
    templates: Templates | None = None
    plain: Mapping[str, Any] | None = None

    def __init__(self, attempt: Attempt[Any], response: Response) -> None:
        self._attempt = attempt
        self._response = response
        self._splitter = EventSplitter(self.event_max_bytes)
        self._ready: deque[Chunk] = deque()
        self._read_bytes = 0
        self._ended = False
        self._broken: StreamBroken | None = None

    @abstractmethod
    def translate(self, data: bytes) -> Chunk | None:
        """Rewrite one event's data for the client. Return None at the end. Raises StreamBroken or NotJSONError."""

    def repeated(self, run: Run) -> Chunk:
        """Rewrite events that repeat a plain one."""
        raise NotImplementedError

    async def begin(self) -> None:
        """Wait for the first event."""
        while not (self._ready or self._ended or self._broken):
            await self._read()
        if self._broken and not self._ready:
            raise self._broken

    @property
    def has_next(self) -> bool:
        """Return whether an event that was already read is still pending."""
        return bool(self._ready)

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> Chunk:
        while not self._ready:
            if self._broken:
                self.ended(whole=False)
                raise self._broken
            if self._ended:
                self.ended(whole=True)
                raise StopAsyncIteration
            await self._read()
        return self._ready.popleft()

    async def close(self) -> None:
        """Close the connection of a stream in progress; let one that has ended release its connection for reuse.

        Anything that happens to the stream from now on does not count for or against the upstream.
        """
        self.on_end = None
        if self._ended and not self._response.closed:
            task = asyncio.create_task(_drain(self._response))
            _draining.add(task)
            task.add_done_callback(_draining.discard)
        else:
            self._response.close()

    async def _read(self) -> None:
        """Read the available bytes and queue their events. An error is stored, to be raised after them."""
        try:
            data = await read_part(self._response.content)
            blocks = self._blocks(data)
            for at in range(0, len(blocks), CHUNK_MAX_EVENTS):
                if not (self._broken or self._ended):
                    self._take(blocks[at : at + CHUNK_MAX_EVENTS])
        except Exception as error:  # noqa: BLE001 - any error while parsing breaks the stream
            self._broken = broken_by(self._attempt, error)

    def _blocks(self, data: bytes) -> list[bytes]:
        self._read_bytes += len(data)
        if not data:
            raise ConnectionError("closed before the end")
        if self._read_bytes > STREAM_MAX_BYTES:
            raise NotJSONError("stream too large")
        return self._splitter.feed(data)

    def _take(self, blocks: list[bytes]) -> None:
        """Translate some events and queue them as one chunk."""
        chunks: list[Chunk] = []
        try:
            self._translate_all(blocks, chunks)
        except Exception as error:  # noqa: BLE001 - the events before this one are still good
            self._broken = broken_by(self._attempt, error)
        if chunks:
            self._ready.append(chunks[0] if len(chunks) == 1 else _merged(chunks))

    def _translate_all(self, blocks: list[bytes], chunks: list[Chunk]) -> None:
        templates = self.templates
        while blocks and not self._ended:
            if templates and (run := templates.run(blocks)):
                chunks.append(self.repeated(run))
                blocks = blocks[run.deltas :]
            else:
                self._translate_next(blocks[0], chunks)
                blocks = blocks[1:]

    def _translate_next(self, block: bytes, chunks: list[Chunk]) -> None:
        """Translate an event, if it has data, and learn a template from a plain one."""
        data = data_of(block)
        if not data:
            return
        chunk = self.translate(data)
        plain, self.plain = self.plain, None
        if chunk is None:
            self._ended = True
            return
        chunks.append(chunk)
        if self.templates and plain is not None and not chunk.audio_tokens:
            self.templates.learn(block, data, plain, chunk.output_bytes)


class LastEventStream(EventStream):
    """A stream of JSON events whose last one is held back: `rewrite` sets `_ended` at it. Data after it is not read."""

    def translate(self, data: bytes) -> Chunk | None:
        if self._ended:
            return None
        if data == b"[DONE]":
            raise NotJSONError("the stream ended without a last event")
        event = parse_object(data)
        if event.get("error") or event.get("type") == "error":
            raise broken_by_event(self._attempt, event)
        return self.rewrite(event)

    @abstractmethod
    def rewrite(self, event: dict[str, Any]) -> Chunk:
        """Check one event, and rewrite it for the client. Raises NotJSONError."""


def _merged(chunks: Sequence[Chunk]) -> Chunk:
    deltas = size = audio = 0
    usage = tier = None
    events: list[Any] = []
    for chunk in chunks:
        deltas += chunk.output_deltas
        size += chunk.output_bytes
        audio += chunk.audio_tokens
        usage = chunk.usage if chunk.usage is not None else usage
        tier = chunk.service_tier if chunk.service_tier is not None else tier
        events += chunk.events
    return Chunk(b"".join([chunk.data for chunk in chunks]), deltas, size, audio, usage, tuple(events), tier)


async def _drain(response: Response) -> None:
    """Read the rest of the body after the last event, because a connection with an unread body cannot be reused."""
    try:
        async with asyncio.timeout(_DRAIN_SECONDS):
            await response.content.readany()
    except Exception:  # noqa: BLE001, S110 - the answer is complete; the connection is closed below
        pass
    finally:
        response.close()
