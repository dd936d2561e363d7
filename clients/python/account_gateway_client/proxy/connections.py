"""One connection of a tool: uvicorn's protocol over h11, with limits for those that say nothing."""

import asyncio
import logging
import sys
from typing import Any

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol

HEAD_SECONDS = 30.0
MAX_HEAD_BYTES = 64 * 2**10
# How many are accepted at once, before the first of them is looked at; and how many may be open.
ACCEPTED_AT_ONCE = 64
MAX_CONNECTIONS = 1000
# What the application notes in a request's scope.
ADMITTED = "agw.admitted"

# Says nothing: what breaks is told to the tool, and a tool that fills the terminal must not be disturbed.
_silent = logging.getLogger("account_gateway_client.proxy")
_silent.addHandler(logging.NullHandler())
_silent.propagate = False
logging.getLogger("uvicorn.error").addHandler(logging.NullHandler())

if sys.platform == "win32":

    def connections_max() -> int:
        """Return how many connections fit."""
        return MAX_CONNECTIONS

else:
    import resource

    def connections_max() -> int:
        """Return how many connections fit, each with one to the gateway, into the files that this process may open."""
        files = resource.getrlimit(resource.RLIMIT_NOFILE)[0]
        return MAX_CONNECTIONS if files == resource.RLIM_INFINITY else min(MAX_CONNECTIONS, files // 3)


class ToolConnection(H11Protocol):
    """Closes the connection of a peer that begins a request and does not come to its end, or begins none."""

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        self.logger = _silent
        self._head_timer: asyncio.TimerHandle | None = None
        self.made_at = self.loop.time()

    @property
    def is_strange(self) -> bool:
        """Return whether no request has shown the proxy's secret."""
        return not self.scope or ADMITTED not in self.scope

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        self._await_head()
        self._make_room()

    def data_received(self, data: bytes) -> None:
        super().data_received(data)
        if self.conn.their_state is h11.IDLE:
            self._await_head()
        elif self._head_timer:
            self._head_timer.cancel()
            self._head_timer = None

    def connection_lost(self, exc: Exception | None) -> None:
        if self._head_timer:
            self._head_timer.cancel()
        super().connection_lost(exc)

    def _await_head(self) -> None:
        """Start the clock, unless it runs: a byte now and then does not stop it."""
        if self._head_timer is None:
            self._head_timer = self.loop.call_later(HEAD_SECONDS, self._give_up)

    def _make_room(self) -> None:
        """Where there are too many, close the oldest one of those that have not shown the proxy's secret."""
        there = [
            each for each in self.connections if isinstance(each, ToolConnection) and not each.transport.is_closing()
        ]
        if len(there) > connections_max():
            strange = [(each.made_at, each.transport) for each in there if each.is_strange]
            min(strange, key=lambda found: found[0])[1].close()

    def _give_up(self) -> None:
        if self.conn.their_state is h11.IDLE and not self.transport.is_closing():
            self.transport.close()
