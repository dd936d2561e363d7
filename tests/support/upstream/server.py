"""Runs the fake upstream in a thread beside a test."""

import contextlib
import socket
from collections.abc import Iterator
from functools import cache
from typing import Any

from aiohttp import web

from tests.support.server_thread import HOST, ServerThread
from tests.support.upstream.app import Upstream
from tests.support.upstream.behaviours import PRESETS, Behaviour, Script
from tests.support.upstream.generations import Records
from tests.support.upstream.ledger import Ledger
from tests.support.upstream.realtime import Realtime


class FakeUpstream(ServerThread):
    """Runs the upstream in a thread with its own event loop, as a context manager.

    It uses real sockets; the ledger and the scripts are available as objects:

        with FakeUpstream() as upstream:
            upstream.script("usage-missing")
            ...  # call upstream.base_url
            [entry] = upstream.ledger
    """

    def __init__(self, *, api_key: str | None = None, port: int = 0) -> None:
        self._upstream = Upstream(api_key=api_key)
        super().__init__(port)

    @property
    def ledger(self) -> Ledger:
        """Return the live ledger."""
        return self._upstream.ledger

    @property
    def records(self) -> Records:
        """Return the records of calls."""
        return self._upstream.records

    @property
    def realtime(self) -> Realtime:
        """Return the sessions, and how they behave."""
        return self._upstream.realtime

    @property
    def base_url(self) -> str:
        """Return the URL for an SDK or a configuration file."""
        return f"{self.origin}/v1"

    def script(
        self,
        preset: str | None = None,
        *,
        model: str | None = None,
        path: str | None = None,
        times: int = 1,
        **behaviour: Any,
    ) -> None:
        """Respond to the next `times` matching requests with a preset, or single settings over it.

        `path` is the whole path, such as "/v1/embeddings"; None matches any.
        """
        chosen = Behaviour.parse(behaviour, PRESETS[preset] if preset else None)
        self._upstream.scripts.add(Script(chosen, model=model, path=path, times=times))

    def accept_key(self, api_key: str | None) -> None:
        """Refuse any other key than this from now on; None accepts all."""
        self._upstream.api_key = api_key

    @contextlib.contextmanager
    def holding(self) -> Iterator[None]:
        """Send nothing but the first token of streams until `release`, or the end of the block."""
        self.loop.call_soon_threadsafe(self._upstream.gate.clear)
        try:
            yield
        finally:
            self.release()

    def release(self) -> None:
        """Send the held responses."""
        self.loop.call_soon_threadsafe(self._upstream.gate.set)

    def reset(self) -> None:
        """Empty the ledger and remove every script and session."""
        self._upstream.ledger.clear()
        self._upstream.scripts.clear()
        self._upstream.records.reset()
        self._upstream.realtime.reset()

    def application(self) -> web.Application:
        """Build the routes."""
        return self._upstream.application()


def closed_port() -> int:
    """Return a port of 127.0.0.1 that refuses connections: this process keeps it, so that nobody else listens on it."""
    return int(_reserved_port().getsockname()[1])


@cache
def _reserved_port() -> socket.socket:
    """Take a port without listening on it."""
    reserved = socket.socket()
    reserved.bind((HOST, 0))
    return reserved


@contextlib.contextmanager
def mute_port() -> Iterator[int]:
    """Listen on a port, accept connections, and never read or respond."""
    with socket.socket() as listener:
        listener.bind((HOST, 0))
        listener.listen(128)
        yield int(listener.getsockname()[1])
