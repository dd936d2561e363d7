"""One WebSocket's many small frames: they wait for the application, and leave the event loop its turns."""

import asyncio
import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import uvicorn
from websockets.asyncio.client import ClientConnection, connect
from websockets.frames import Frame, Opcode

from gateway.core.http.server.sockets import FRAMES_PER_TURN, SLICE_BYTES, BoundedSocket

FRAMES = 20_000
FRAME_MIN_BYTES = 6
MESSAGES_AT_ONCE = SLICE_BYTES // FRAME_MIN_BYTES + 1


class Counted(BoundedSocket):
    """Notes how many pings it has handled."""

    pings = 0

    def handle_ping(self) -> None:
        """Count a ping, and answer it."""
        super().handle_ping()
        Counted.pings += 1


@asynccontextmanager
async def served(app: Any) -> AsyncIterator[ClientConnection]:
    """Serve an application, and connect to it."""
    listener = socket.create_server(("127.0.0.1", 0))
    config = uvicorn.Config(
        app, http="gateway.server.protocol:Bounded", ws=Counted, log_level="critical", lifespan="off"
    )
    server = uvicorn.Server(config)
    serving = asyncio.create_task(server.serve([listener]))
    try:
        url = f"ws://127.0.0.1:{listener.getsockname()[1]}/"
        async with connect(url, compression=None, ping_interval=None) as client:  # no ping but those of the test
            yield client
    finally:
        server.should_exit = True
        await serving


def frames(opcode: Opcode) -> bytes:
    return b"".join(Frame(opcode, b"").serialize(mask=True) for _ in range(FRAMES))


async def test_messages_wait_for_the_application_a_few_at_a_time() -> None:
    most, taken, is_done = 0, 0, asyncio.Event()

    async def take(scope: Any, receive: Any, send: Any) -> None:
        nonlocal most, taken
        await receive()
        await send({"type": "websocket.accept"})
        while taken < FRAMES:
            assert (await receive())["type"] == "websocket.receive"
            taken += 1
            most = max(most, receive.__self__.queue.qsize())
        is_done.set()
        await receive()

    async with served(take) as client:
        client.transport.write(frames(Opcode.TEXT))
        await is_done.wait()
    assert (taken, most <= MESSAGES_AT_ONCE) == (FRAMES, True)


async def test_pings_leave_others_their_turns() -> None:
    most, is_done = 0, asyncio.Event()

    async def wait(scope: Any, receive: Any, send: Any) -> None:
        await receive()
        await send({"type": "websocket.accept"})
        while (await receive())["type"] != "websocket.disconnect":
            pass

    def look(seen: int = 0) -> None:
        nonlocal most
        most = max(most, Counted.pings - seen)
        if Counted.pings == FRAMES:
            is_done.set()
        else:
            asyncio.get_running_loop().call_soon(look, Counted.pings)

    Counted.pings = 0
    async with served(wait) as client:
        client.transport.write(frames(Opcode.PING))
        look()
        await is_done.wait()
    assert most <= FRAMES_PER_TURN + MESSAGES_AT_ONCE
