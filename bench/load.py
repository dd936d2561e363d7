"""A closed-loop load generator: every connection sends its next request when the last one was answered.

It sends prerendered requests and parses responses in C, so that it takes little from the servers on the same machine.
Latencies are in seconds from the sending of a request.
"""

import asyncio
import gc
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple, cast

import httptools

from bench.figures import percentile

EXAMPLES = 3


class Target(NamedTuple):
    """A server's address."""

    host: str
    port: int


class Sample(NamedTuple):
    """One answered request. `first_byte_seconds` is the time to the first byte of the body, not of the headers."""

    status: int
    first_byte_seconds: float
    seconds: float
    body: bytes


@dataclass(slots=True)
class Run:
    """The results of one closed loop."""

    concurrency: int
    elapsed_seconds: float = 0.0
    cpu_seconds: float = 0.0
    """Processor time of the load generator itself, which shares the machine with the measured servers."""
    seconds: list[float] = field(default_factory=list)
    first_byte_seconds: list[float] = field(default_factory=list)
    failures: list[str] = field(default_factory=list)
    failed: int = 0

    @property
    def requests_per_second(self) -> float:
        """Return the rate of successful requests."""
        return len(self.seconds) / self.elapsed_seconds if self.elapsed_seconds else 0.0

    def latency(self, percent: float) -> float:
        """Return a percentile of the whole request's time."""
        return percentile(sorted(self.seconds), percent)

    def first_byte(self, percent: float) -> float:
        """Return a percentile of the time to the body's first byte."""
        return percentile(sorted(self.first_byte_seconds), percent)

    def add(self, sample: Sample) -> None:
        """Count one response."""
        if sample.status != 200:
            self.fail(f"{sample.status} {sample.body[:300].decode(errors='replace')}")
            return
        self.seconds.append(sample.seconds)
        self.first_byte_seconds.append(sample.first_byte_seconds)

    def fail(self, reason: str) -> None:
        """Count one failure and store the first few as examples."""
        self.failed += 1
        if len(self.failures) < EXAMPLES:
            self.failures.append(reason)


class Connection(asyncio.Protocol):
    """One keep-alive connection that carries one request at a time."""

    def __init__(self) -> None:
        self._transport: asyncio.WriteTransport | None = None
        self._answer: asyncio.Future[Sample] | None = None
        self._parser = httptools.HttpResponseParser(self)
        self._body: list[bytes] = []
        self._started_at = 0.0
        self._first_byte_at = 0.0

    @property
    def is_open(self) -> bool:
        """Return whether another request may be sent."""
        return self._transport is not None and not self._transport.is_closing()

    async def exchange(self, request: bytes) -> Sample:
        """Send one rendered request and wait for its complete response; ConnectionError if the connection is lost."""
        assert self._transport is not None
        self._answer = asyncio.get_running_loop().create_future()
        self._body.clear()
        self._first_byte_at = 0.0
        self._started_at = time.perf_counter()
        self._transport.write(request)
        return await self._answer

    def close(self) -> None:
        if self._transport is not None:
            self._transport.close()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast("asyncio.WriteTransport", transport)

    def data_received(self, data: bytes) -> None:
        self._parser.feed_data(data)

    def connection_lost(self, exc: Exception | None) -> None:
        """Fail the pending request, if any (asyncio calls this)."""
        if self._answer is not None and not self._answer.done():
            self._answer.set_exception(ConnectionError(str(exc or "closed by the server")))

    def on_body(self, body: bytes) -> None:
        """Record the first byte's time (the parser calls this)."""
        if not self._body:
            self._first_byte_at = time.perf_counter()
        self._body.append(body)

    def on_message_complete(self) -> None:
        """Deliver the response (the parser calls this)."""
        now = time.perf_counter()
        first_byte_at = self._first_byte_at or now
        sample = Sample(
            status=self._parser.get_status_code(),
            first_byte_seconds=first_byte_at - self._started_at,
            seconds=now - self._started_at,
            body=b"".join(self._body),
        )
        if not self._parser.should_keep_alive():
            self.close()
        if self._answer is not None and not self._answer.done():
            self._answer.set_result(sample)


async def connect(target: Target) -> Connection:
    """Open one connection; TCP_NODELAY is asyncio's default."""
    loop = asyncio.get_running_loop()
    _, connection = await loop.create_connection(Connection, target.host, target.port)
    return connection


async def closed_loop(
    target: Target, requests: Sequence[bytes], *, concurrency: int, seconds: float, patience_seconds: float = 60
) -> Run:
    """Send `requests` over `concurrency` connections until they run out or `seconds` have passed.

    Requests without a response `patience_seconds` later have failed. There is one timeout per connection, because one
    per request would take a quarter of the generator's processor time.
    """
    run = Run(concurrency)
    connections = [await connect(target) for _ in range(concurrency)]
    waiting = iter(requests)
    gc.collect()
    gc.disable()
    started_at, cpu_at = time.perf_counter(), time.process_time()
    until = started_at + seconds

    async def drive(connection: Connection) -> None:
        try:
            async with asyncio.timeout(seconds + patience_seconds):
                await _drive(run, target, connection, waiting, until)
        except TimeoutError:
            run.fail(f"no answer {patience_seconds:g} s after the end")

    try:
        await asyncio.gather(*map(drive, connections))
    finally:
        gc.enable()
    run.elapsed_seconds = time.perf_counter() - started_at
    run.cpu_seconds = time.process_time() - cpu_at
    return run


async def _drive(run: Run, target: Target, connection: Connection, waiting: Iterator[bytes], until: float) -> None:
    try:
        for request in waiting:
            if not connection.is_open:
                connection = await connect(target)
            try:
                run.add(await connection.exchange(request))
            except ConnectionError as error:
                run.fail(repr(error))
                connection.close()
            if time.perf_counter() >= until:
                break
    finally:
        connection.close()
