"""A head and the beginning of its body go out together, and a head that nothing follows goes out by itself."""

import asyncio
import socket
import struct
from typing import Any

import uvloop

from gateway.core.http.server.answer_writer import AnswerWriter
from tests.server.crowd import connect
from tests.support.stage import Stage

DATA_SEGMENTS_IN_AT = 152
"""Where `struct tcp_info` (linux/tcp.h) has the number of segments with data that came in."""


class Transport(asyncio.Transport):
    """Notes what is written to it, a call at a time."""

    def __init__(self) -> None:
        super().__init__()
        self.calls: list[bytes] = []

    def write(self, data: Any) -> None:
        self.calls.append(data)

    def writelines(self, list_of_data: Any) -> None:
        self.calls.append(b"".join(list_of_data))

    def close(self) -> None:
        self.calls.append(b"closed")

    def is_closing(self) -> bool:
        return b"closed" in self.calls


class Connection(asyncio.Protocol):
    """Sets `lost` when its connection is closed."""

    def __init__(self) -> None:
        self.lost = asyncio.Event()

    def connection_lost(self, exc: Exception | None) -> None:
        self.lost.set()


async def test_a_whole_answer_is_one_write_and_further_pieces_are_their_own() -> None:
    transport = Transport()
    writer = AnswerWriter(transport, asyncio.get_running_loop())
    for piece in (b"head", b"body", b"more"):
        writer.write(piece)
    await asyncio.sleep(0)
    assert transport.calls == [b"headbody", b"more"]


async def test_a_head_waits_for_the_next_turn_and_no_longer() -> None:
    transport = Transport()
    writer = AnswerWriter(transport, asyncio.get_running_loop())
    writer.write(b"head")
    assert transport.calls == []
    await asyncio.sleep(0)
    assert transport.calls == [b"head"]
    writer.write(b"body")
    assert transport.calls == [b"head", b"body"]


async def test_a_head_goes_out_before_the_connection_is_closed() -> None:
    transport = Transport()
    writer = AnswerWriter(transport, asyncio.get_running_loop())
    writer.write(b"head")
    writer.close()
    await asyncio.sleep(0)
    assert transport.calls == [b"head", b"closed"]


def test_a_head_is_dropped_with_a_connection_that_was_lost_in_the_same_turn() -> None:
    assert uvloop.run(_errors_of_a_lost_connection()) == []


async def _errors_of_a_lost_connection() -> list[Any]:
    """Write a head on a closed connection, and return what the event loop would log."""
    loop, errors = asyncio.get_running_loop(), list[Any]()
    loop.set_exception_handler(lambda _, context: errors.append(context))
    ours, theirs = socket.socketpair()
    with theirs:
        transport, protocol = await loop.create_connection(Connection, sock=ours)
        transport.abort()
        await protocol.lost.wait()
        AnswerWriter(transport, loop).write(b"head")
        await asyncio.sleep(0)
    return errors


def test_an_answer_is_one_packet(stage: Stage) -> None:
    with connect(stage.origin) as connection:
        connection.sendall(b"GET /healthz HTTP/1.1\r\nHost: gateway\r\n\r\n")
        answer = b""
        while not answer.endswith(b"}"):
            answer += connection.recv(65536)
        info = connection.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, 192)
    assert struct.unpack_from("I", info, DATA_SEGMENTS_IN_AT) == (1,)
