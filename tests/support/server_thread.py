"""Runs servers in threads beside a test."""

import asyncio
import threading
from abc import ABC, abstractmethod
from collections.abc import Iterator
from contextlib import AbstractAsyncContextManager, contextmanager
from http.server import HTTPServer
from typing import Self

import uvloop


class ServerThread(ABC):
    """A server on an event loop of its own, as a context manager: the server is up when the block begins, and gone when it has ended."""

    def __init__(self) -> None:
        self.loop = uvloop.new_event_loop()
        self._started = threading.Event()
        self._stop = asyncio.Event()
        self._thread = threading.Thread(target=self._run, daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        self._started.wait()
        return self

    def __exit__(self, *exc: object) -> None:
        self.loop.call_soon_threadsafe(self._stop.set)
        self._thread.join()
        self.loop.close()

    @abstractmethod
    def serving(self) -> AbstractAsyncContextManager[None]:
        """Return what serves from its beginning to its end."""

    def _run(self) -> None:
        asyncio.set_event_loop(self.loop)
        self.loop.run_until_complete(self._serve())

    async def _serve(self) -> None:
        async with self.serving():
            self._started.set()
            await self._stop.wait()


@contextmanager
def http_server(server: HTTPServer) -> Iterator[str]:
    """Serve with the standard library's server, and give its origin."""
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
