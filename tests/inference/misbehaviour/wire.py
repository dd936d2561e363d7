"""Answers as bytes on the wire, and a server that plays them."""

import asyncio
import contextlib
import socket
import struct
import threading
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal, Self

from tests.support.upstream.behaviours import HOST, ORGANIZATION

Ending = Literal["close", "reset", "hang", "endless"]

LEAKY = {
    "x-request-id": "req-upstream-1",
    "openai-organization": ORGANIZATION,
    "x-served-by": HOST,
    "set-cookie": "__upstream-session=1; Path=/",
}


@dataclass(frozen=True)
class Play:
    """Pieces that are sent one after the other, and what comes behind: the end of the connection, silence, or the last
    piece again and again until the peer leaves."""

    pieces: Sequence[bytes]
    ending: Ending = "close"


def head(status: int, media_type: str, **headers: str) -> bytes:
    """Lay out the head of an answer, full of what a gateway must not pass on."""
    lines = {
        "Content-Type": media_type,
        "Connection": "close",
        **LEAKY,
        **{name.replace("_", "-"): value for name, value in headers.items()},
    }
    return f"HTTP/1.1 {status} X\r\n".encode() + b"".join(f"{name}: {lines[name]}\r\n".encode() for name in lines)


def whole(body: bytes, media_type: str, status: int = 200, **headers: str) -> bytes:
    """Lay out a complete answer."""
    return head(status, media_type, **headers, Content_Length=str(len(body))) + b"\r\n" + body


def chunked(media_type: str, **headers: str) -> bytes:
    """Lay out the head of an answer whose body comes in chunks."""
    return head(200, media_type, **headers, Transfer_Encoding="chunked") + b"\r\n"


def chunk(data: bytes) -> bytes:
    """Lay out one chunk; an empty one is the last."""
    return b"%x\r\n%b\r\n" % (len(data), data)


class MisbehavingUpstream:
    """Plays one answer to every request, on an event loop of its own. `asked` are the request lines that came."""

    def __init__(self) -> None:
        self.play = Play(())
        self.requests: list[str] = []
        self.port = 0
        self._loop = asyncio.new_event_loop()
        self._started = threading.Event()
        self._stop = asyncio.Event()
        self._thread = threading.Thread(target=self._loop.run_until_complete, args=(self._serve(),), daemon=True)

    @property
    def base_url(self) -> str:
        """Return the address of an upstream's row."""
        return f"http://127.0.0.1:{self.port}/v1"

    def __enter__(self) -> Self:
        self._thread.start()
        self._started.wait()
        return self

    def __exit__(self, *exc: object) -> None:
        self._loop.call_soon_threadsafe(self._stop.set)
        self._thread.join()
        self._loop.close()

    async def _serve(self) -> None:
        server = await asyncio.start_server(self._connected, "127.0.0.1", 0)
        self.port = server.sockets[0].getsockname()[1]
        self._started.set()
        await self._stop.wait()
        server.close()
        left = asyncio.all_tasks() - {asyncio.current_task()}
        for task in left:
            task.cancel()
        await asyncio.gather(*left, return_exceptions=True)

    async def _connected(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with contextlib.suppress(ConnectionError, asyncio.IncompleteReadError):
            self.requests.append(await _read_request(reader))
            await _perform(self.play, reader, writer)
        writer.close()


async def _perform(play: Play, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    for piece in play.pieces:
        writer.write(piece)
        await writer.drain()
    if play.ending == "hang":
        await reader.read()
    if play.ending == "reset":
        _reset(writer)
    while play.ending == "endless":
        writer.write(play.pieces[-1])
        await writer.drain()


def _reset(writer: asyncio.StreamWriter) -> None:
    connection: Any = writer.get_extra_info("socket")
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    writer.transport.abort()


async def _read_request(reader: asyncio.StreamReader) -> str:
    """Read a whole request and return its first line."""
    text = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1")
    headers = {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in text.split("\r\n"))}
    if headers.get("transfer-encoding") == "chunked":
        while size := int(await reader.readline(), 16):
            await reader.readexactly(size + 2)
        await reader.readline()
    else:
        await reader.readexactly(int(headers.get("content-length", "0")))
    return text.partition("\r\n")[0]
