"""Measures the time to a stream's first byte at a server whose process also does other work.

The client is a separate process, `python -m bench.first_byte PORT`, so that it waits for nothing but the server.
"""

import asyncio
import http.client
import json
import socket
import sys
import time
from collections.abc import Awaitable, Callable
from typing import Any

import uvicorn

STREAMS = 300
PAUSE_SECONDS = 0.003
EVENT = b"data: {}\n\n"

Work = Callable[[], Awaitable[object]]


async def first_byte_seconds(beside: Work | None = None) -> list[float]:
    """Return the sorted times to the first byte of several hundred streams, while `beside` runs repeatedly on the
    server's event loop."""
    listening = socket.create_server(("127.0.0.1", 0))  # the client may connect before the server accepts
    server = uvicorn.Server(uvicorn.Config(_stream, lifespan="off", log_level="warning"))
    serving = asyncio.create_task(server.serve([listening]))
    working = asyncio.create_task(_again_and_again(beside)) if beside else None
    try:
        return sorted(await _ask(listening.getsockname()[1]))
    finally:
        if working:
            working.cancel()
        server.should_exit = True
        await serving


async def _stream(scope: Any, receive: Any, send: Any) -> None:
    """Respond with a stream of two events."""
    await send({"type": "http.response.start", "status": 200, "headers": [(b"content-type", b"text/event-stream")]})
    await send({"type": "http.response.body", "body": EVENT, "more_body": True})
    await send({"type": "http.response.body", "body": EVENT})


async def _again_and_again(work: Work) -> None:
    while True:
        await work()


async def _ask(port: int) -> list[float]:
    command = [sys.executable, "-m", "bench.first_byte", str(port)]
    client = await asyncio.create_subprocess_exec(*command, stdout=asyncio.subprocess.PIPE)
    output, _ = await client.communicate()
    seconds: list[float] = json.loads(output)
    return seconds


def main() -> None:
    """Request the streams one after another, and print the times as JSON."""
    connection = http.client.HTTPConnection("127.0.0.1", int(sys.argv[1]))
    seconds = []
    for _ in range(STREAMS):
        begun = time.perf_counter()
        connection.request("GET", "/")
        answer = connection.getresponse()
        answer.read(1)
        seconds.append(time.perf_counter() - begun)
        answer.read()
        time.sleep(PAUSE_SECONDS)  # so that streams start at random points of the work
    connection.close()
    sys.stdout.write(json.dumps(seconds))


if __name__ == "__main__":
    main()
