"""A server that answers each request with bytes that the test chooses, valid or not."""

import asyncio
import contextlib
import socket
import struct
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import dataclass, field

from multidict import CIMultiDict


@dataclass(slots=True)
class Request:
    """A received request: its request line, headers and body, and the number of its connection (from 1)."""

    line: str
    headers: CIMultiDict[str]
    body: bytes
    connection: int


@dataclass(slots=True)
class Wire:
    """A running server and what it received."""

    base_url: str = ""
    requests: list[Request] = field(default_factory=list)
    connections: int = 0
    left: asyncio.Event = field(default_factory=asyncio.Event)


GOOD = b'{"choices":[{"index":0,"message":{"content":"ok"}}],"usage":{"prompt_tokens":1}}'
"""The smallest valid answer to a chat request."""

Answer = Callable[[asyncio.StreamWriter], Awaitable[None]]


@contextlib.asynccontextmanager
async def serving(*answers: Answer | bytes) -> AsyncIterator[Wire]:
    """Serve on loopback: the n-th request gets the n-th answer, later ones the last."""
    wire, writers = Wire(), set[asyncio.StreamWriter]()

    async def connected(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writers.add(writer)
        wire.connections += 1
        connection = wire.connections
        with contextlib.suppress(asyncio.IncompleteReadError, ConnectionError):
            while not writer.is_closing():
                wire.requests.append(await _read_request(reader, connection))
                await _answer(answers[min(len(wire.requests), len(answers)) - 1], writer)
        wire.left.set()

    server = await asyncio.start_server(connected, "127.0.0.1", 0)
    wire.base_url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/v1"
    try:
        yield wire
    finally:
        server.close()
        for writer in writers:
            writer.close()


async def until_set_and_noticed(is_done: asyncio.Event) -> None:
    """Wait until a server has set `told` after it wrote or closed, and until the client in this loop has noticed.

    Each of several turns of the loop also handles what has arrived, however long it takes.
    """
    await is_done.wait()
    is_done.clear()
    for _ in range(5):
        await asyncio.sleep(0.01)


async def _answer(answer: Answer | bytes, writer: asyncio.StreamWriter) -> None:
    if isinstance(answer, bytes):
        writer.write(answer)
        await writer.drain()
    else:
        await answer(writer)


async def _read_request(reader: asyncio.StreamReader, connection: int) -> Request:
    head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1")
    first, *fields = head.rstrip("\r\n").split("\r\n")
    headers: CIMultiDict[str] = CIMultiDict()
    for name, _, value in (line.partition(":") for line in fields):
        headers.add(name.strip(), value.strip())
    return Request(first, headers, await reader.readexactly(int(headers.get("Content-Length", "0"))), connection)


def response(
    body: bytes = b"", *, status: str = "200 OK", content_type: str = "application/json", extra: str = ""
) -> bytes:
    """Build a whole HTTP response; `extra` has further header lines, each with its line end."""
    head = f"HTTP/1.1 {status}\r\nContent-Type: {content_type}\r\nContent-Length: {len(body)}\r\n{extra}\r\n"
    return head.encode() + body


def chunked_head(content_type: str = "text/event-stream", *, status: str = "200 OK") -> bytes:
    """Build the head of a response with a chunked body."""
    return f"HTTP/1.1 {status}\r\nContent-Type: {content_type}\r\nTransfer-Encoding: chunked\r\n\r\n".encode()


def chunk(data: bytes) -> bytes:
    """Build one chunk of a body; an empty one is the last."""
    return b"%x\r\n%b\r\n" % (len(data), data)


def reset(writer: asyncio.StreamWriter) -> None:
    """Cut a connection with a TCP reset."""
    connection: socket.socket = writer.get_extra_info("socket")
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    writer.transport.abort()
