"""Runs servers in threads beside a test."""

import asyncio
import threading
from abc import ABC, abstractmethod
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from http.server import HTTPServer
from typing import Self

import uvloop
from aiohttp import web

HOST = "127.0.0.1"
STOP_SECONDS = 0.1


@asynccontextmanager
async def listening(application: web.Application, port: int = 0) -> AsyncIterator[int]:
    """Serve an application on loopback and yield the port; port 0 takes a free one."""
    runner = web.AppRunner(application, access_log=None, shutdown_timeout=STOP_SECONDS)
    await runner.setup()
    await web.TCPSite(runner, HOST, port, backlog=1024).start()
    try:
        yield runner.addresses[0][1]
    finally:
        await runner.cleanup()


class ServerThread(ABC):
    """An application on its own event loop, as a context manager that listens while its block runs."""

    def __init__(self, port: int = 0) -> None:
        self.port = port
        self.loop = uvloop.new_event_loop()
        self._started = threading.Event()
        self._stop = asyncio.Event()
        self._thread = threading.Thread(target=self._run, daemon=True)

    @property
    def origin(self) -> str:
        """Return the scheme, host and port."""
        return f"http://{HOST}:{self.port}"

    @abstractmethod
    def application(self) -> web.Application:
        """Build the application."""

    def __enter__(self) -> Self:
        self._thread.start()
        self._started.wait()
        return self

    def __exit__(self, *exc: object) -> None:
        self.loop.call_soon_threadsafe(self._stop.set)
        self._thread.join()
        self.loop.close()

    def _run(self) -> None:
        asyncio.set_event_loop(self.loop)
        self.loop.run_until_complete(self._serve())

    async def _serve(self) -> None:
        async with listening(self.application(), self.port) as self.port:
            self._started.set()
            await self._stop.wait()


@contextmanager
def http_server(server: HTTPServer) -> Iterator[str]:
    """Serve with the standard library's server, and yield its origin."""
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
