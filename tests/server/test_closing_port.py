"""A server closes its port: what clients have sent by then is answered, at whatever moment they have connected."""

import asyncio
import socket
from collections.abc import Awaitable, Callable
from typing import Any

import pytest
import uvicorn
import uvloop

from gateway.core.http.draining import drain_of_loop
from gateway.core.http.server.uvicorn_internals import close_port
from tests.server.crowd import read_to_the_end
from tests.support.concurrency import eventually_async

GET = b"GET / HTTP/1.1\r\nHost: gateway\r\n\r\n"
FOR_EVER = 3600.0


HANDSHAKE = (
    b"GET / HTTP/1.1\r\nHost: gateway\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n"
    b"Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n"
)


async def application(scope: Any, receive: Any, send: Any) -> None:
    if scope["type"] == "websocket":
        await receive()
        await send({"type": "websocket.accept"})
        await send({"type": "websocket.close", "code": 1000})
        return
    await send({"type": "http.response.start", "status": 200, "headers": [(b"content-length", b"2")]})
    await send({"type": "http.response.body", "body": b"ok"})


class Served:
    """A server of this process, with the gateway's protocol."""

    def __init__(self, server: uvicorn.Server) -> None:
        self._server = server
        self.address = server.servers[0].sockets[0].getsockname()

    async def connect(self) -> socket.socket:
        """Open a connection, and wait until the server has it."""
        known = len(self._server.server_state.connections)
        connection = self.connect_unnoticed()
        await eventually_async(lambda: len(self._server.server_state.connections) > known)
        return connection

    def connect_unnoticed(self) -> socket.socket:
        """Open a connection that the system has accepted, and the server, whose loop does not run meanwhile, has not."""
        return socket.create_connection(self.address, timeout=60)

    def stop(self, linger_seconds: float) -> None:
        """Close the port, and tell each connection, as uvicorn does a moment later."""
        drain_of_loop().begin(linger_seconds)
        drain_of_loop().end_soon()
        close_port(self._server)
        for connection in list(self._server.server_state.connections):
            connection.shutdown()
        self._server.should_exit = True


def serving(play: Callable[[Served], Awaitable[None]]) -> None:
    """Run a server, play, and wait for its end."""

    async def run() -> None:
        config = uvicorn.Config(
            application,
            host="127.0.0.1",
            port=0,
            http="gateway.server.protocol:Bounded",
            ws="gateway.server.sockets:BoundedSocket",
            lifespan="off",
            log_level="error",
        )
        server = uvicorn.Server(config)
        running = asyncio.create_task(server.serve())
        await eventually_async(lambda: server.started)
        await play(Served(server))
        await running

    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        runner.run(run())


def is_answered(connection: socket.socket) -> bool:
    """Return whether one whole answer came, after which the server has closed the connection."""
    with connection:
        answer = read_to_the_end(connection)
    return answer.startswith(b"HTTP/1.1 200 ") and answer.endswith(b"\r\n\r\nok") and b"connection: close" in answer


def test_a_connection_that_only_the_system_has_accepted_is_served() -> None:
    async def play(served: Served) -> None:
        waiting = [served.connect_unnoticed() for _ in range(3)]
        for connection in waiting:
            connection.sendall(GET)
        served.stop(FOR_EVER)
        with pytest.raises(ConnectionRefusedError):
            served.connect_unnoticed()
        assert await asyncio.gather(*(asyncio.to_thread(is_answered, each) for each in waiting)) == [True] * 3

    serving(play)


@pytest.mark.parametrize("sent", [b"", GET[:20]])
def test_a_request_that_comes_after_the_port_was_closed_is_answered(sent: bytes) -> None:
    async def play(served: Served) -> None:
        connection = await served.connect()
        connection.sendall(sent)
        served.stop(FOR_EVER)
        connection.sendall(GET[len(sent) :])
        assert await asyncio.to_thread(is_answered, connection)

    serving(play)


@pytest.mark.parametrize("linger_seconds", [0.0, 0.01])
def test_a_connection_without_a_request_is_closed(linger_seconds: float) -> None:
    async def play(served: Served) -> None:
        connection, waiting = await served.connect(), served.connect_unnoticed()
        served.stop(linger_seconds)
        with connection, waiting:
            assert await asyncio.to_thread(read_to_the_end, connection) == b""
            assert await asyncio.to_thread(read_to_the_end, waiting) == b""

    serving(play)


def test_a_handshake_is_accepted_as_long_as_the_port_is_open() -> None:
    """It comes while the server says that it is not ready, and the load balancer does not know it yet."""

    async def play(served: Served) -> None:
        drain_of_loop().begin(FOR_EVER)
        with await served.connect() as connection:
            connection.sendall(HANDSHAKE)
            assert (await asyncio.to_thread(connection.recv, 4096)).startswith(b"HTTP/1.1 101 ")
        served.stop(0.0)

    serving(play)
