"""A load generator for streams that are open at the same time, which times every delta.

It does as little as possible when bytes arrive: it stores them with the time. They are parsed after all streams have ended.
"""

import asyncio
import bisect
import contextlib
import gc
import itertools
import re
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import cast

import httptools

from bench.config import PACED_DELTAS
from bench.load import EXAMPLES, Target

AT_A_TIME = 64
"""So many requests are under way at once while the streams are opened."""
STALL_SECONDS = 0.2
"""A stream with a longer pause between two deltas, ten times the upstream's, has stalled."""
PATIENCE_SECONDS = 60.0

_LAST_CHUNK = b"\r\n0\r\n\r\n"
_STAMP = re.compile(rb'"content":"(\d{16})"')
_START = b"POST /_start HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"

Cpu = Mapping[str, float]


@dataclass(slots=True)
class Received:
    """What one stream delivered. Times are seconds."""

    lateness: list[float]
    """Of each delta: from its writing by the upstream to its arrival here."""
    longest_pause: float
    is_whole: bool
    """Whether the response is a 200 with every delta, in order, its terminator and its end."""


@dataclass(slots=True)
class PacedRun:
    """The results of streams that were open at once."""

    streams: int
    opening_seconds: float = 0.0
    cpu_seconds: float = 0.0
    """Processor time of the load generator itself, from the start of the deltas to the end of the streams."""
    server_cpu: dict[str, float] = field(default_factory=dict)
    """Processor time of the servers in the same time, by role."""
    server_bytes: int = 0
    """Resident memory of the server when nearly all deltas had been delivered."""
    lateness: list[float] = field(default_factory=list)
    """Of every delta, in ascending order, in seconds."""
    longest_pause: float = 0.0
    stalled: int = 0
    short: int = 0
    examples: list[str] = field(default_factory=list)

    def add(self, received: Received, ending: bytes) -> None:
        """Count one stream; `ending` is an example if it is not whole."""
        self.lateness += received.lateness
        self.longest_pause = max(self.longest_pause, received.longest_pause)
        self.stalled += received.longest_pause > STALL_SECONDS
        if not received.is_whole:
            self.short += 1
            if len(self.examples) < EXAMPLES:
                self.examples.append(ending[-300:].decode(errors="replace"))


class Connection(asyncio.Protocol):
    """One stream's connection. `opened` is set at its first event, `ended` at its last byte; a failure sets both."""

    def __init__(self) -> None:
        loop = asyncio.get_running_loop()
        self.opened, self.ended = loop.create_future(), loop.create_future()
        self.pieces: list[tuple[int, bytes]] = []
        self._tail = b""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self.transport = cast("asyncio.WriteTransport", transport)

    def data_received(self, data: bytes) -> None:
        """Store what arrived."""
        self.pieces.append((time.monotonic_ns(), data))
        if not self.opened.done():
            self._see_opening(data)
        self._tail = (self._tail + data[-len(_LAST_CHUNK) :])[-len(_LAST_CHUNK) :]
        if self._tail == _LAST_CHUNK:
            self._end()

    def connection_lost(self, exc: Exception | None) -> None:
        self._end()

    def _see_opening(self, data: bytes) -> None:
        if b"data: " in data:
            self.opened.set_result(None)
        elif len(self.pieces) == 1 and not data.startswith(b"HTTP/1.1 200"):
            self._end()

    def _end(self) -> None:
        for future in (self.opened, self.ended):
            if not future.done():
                future.set_result(None)


class _Body:
    """Parses the pieces of a response, and remembers when each part of its body arrived."""

    def __init__(self, pieces: Sequence[tuple[int, bytes]]) -> None:
        self._parser = httptools.HttpResponseParser(self)
        self._parts: list[bytes] = []
        self._ends: list[int] = []
        self._times: list[int] = []
        self._at = 0
        self.is_complete = False
        for self._at, data in pieces:
            self._parser.feed_data(data)
        self.text = b"".join(self._parts)

    @property
    def status(self) -> int:
        return int(self._parser.get_status_code())

    def on_body(self, part: bytes) -> None:
        self._parts.append(part)
        self._ends.append(len(part) + (self._ends[-1] if self._ends else 0))
        self._times.append(self._at)

    def on_message_complete(self) -> None:
        self.is_complete = True

    def deltas(self) -> Iterator[tuple[int, int]]:
        """Yield when each delta was written and when its last byte arrived, in nanoseconds."""
        for found in _STAMP.finditer(self.text):
            yield int(found[1]), self._times[bisect.bisect_left(self._ends, found.end())]


def read(pieces: Sequence[tuple[int, bytes]]) -> tuple[Received, bytes]:
    """Return what a stream delivered, and its text."""
    body = _Body(pieces)
    deltas = list(body.deltas())
    written, arrived = [delta[0] for delta in deltas], [delta[1] for delta in deltas]
    is_ordered = len(written) == PACED_DELTAS and written == sorted(set(written))
    received = Received(
        lateness=[(arrival - writing) / 1e9 for writing, arrival in deltas],
        longest_pause=max((later - earlier for earlier, later in itertools.pairwise(arrived)), default=0) / 1e9,
        is_whole=body.status == 200 and is_ordered and body.is_complete and b"data: [DONE]" in body.text,
    )
    return received, body.text


async def play(
    target: Target,
    upstream: Target,
    requests: Sequence[bytes],
    *,
    cpu: Callable[[], Cpu] = dict,
    server_bytes: Callable[[], int] = int,
    sample_after_seconds: float = 1.0,
) -> PacedRun:
    """Open a stream with each request, start their deltas, and wait until they have ended.

    `cpu` measures the servers' processor time, and `server_bytes` their memory, `sample_after_seconds` after the start.
    """
    run = PacedRun(len(requests))
    loop = asyncio.get_running_loop()
    connections = [(await loop.create_connection(Connection, target.host, target.port))[1] for _ in requests]
    gc.collect()
    gc.disable()
    try:
        began = time.perf_counter()
        await _open(connections, requests)
        run.opening_seconds = time.perf_counter() - began
        await _stream(run, upstream, connections, cpu, server_bytes, sample_after_seconds)
    finally:
        gc.enable()
        for connection in connections:
            connection.transport.close()
    for connection in connections:
        run.add(*read(connection.pieces))
    run.lateness.sort()
    return run


async def _open(connections: Sequence[Connection], requests: Sequence[bytes]) -> None:
    """Send every request, a limited number at a time, and wait for the first event of each stream."""
    waiting = iter(zip(connections, requests, strict=True))

    async def work() -> None:
        for connection, request in waiting:
            connection.transport.write(request)
            await connection.opened

    with contextlib.suppress(TimeoutError):  # a stream that does not open is short
        async with asyncio.timeout(PATIENCE_SECONDS):
            await asyncio.gather(*(work() for _ in range(AT_A_TIME)))


async def _stream(
    run: PacedRun,
    upstream: Target,
    connections: Sequence[Connection],
    cpu: Callable[[], Cpu],
    server_bytes: Callable[[], int],
    sample_after_seconds: float,
) -> None:
    def sample() -> None:
        run.server_bytes = server_bytes()

    before, cpu_at = cpu(), time.process_time()
    _, writer = await asyncio.open_connection(upstream.host, upstream.port)
    writer.write(_START)
    sampling = asyncio.get_running_loop().call_later(sample_after_seconds, sample)
    await asyncio.wait([connection.ended for connection in connections], timeout=PATIENCE_SECONDS)
    run.cpu_seconds = time.process_time() - cpu_at
    run.server_cpu = {role: seconds - before.get(role, 0.0) for role, seconds in cpu().items()}
    sampling.cancel()
    writer.close()
