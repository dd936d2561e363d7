"""Detects that a client has disconnected, and cancels its request's work."""

import asyncio
from collections.abc import Callable

from gateway.core.http.lean.bodies import Receive

PATIENCE_SECONDS = 0.05
"""Most requests end sooner, and then need no task that watches the connection."""


class DisconnectWatch:
    """Watches one connection, once its request's body has been read. `has_left` says that the client disconnected.

    `on_end` is called once, at the end of the request, with whether the whole response was sent (`is_answered`).
    """

    def __init__(self, receive: Receive) -> None:
        self._receive = receive
        self._task = asyncio.current_task()
        self._timer: asyncio.TimerHandle | None = None
        self._watcher: asyncio.Task[None] | None = None
        self.has_left = False
        self.is_answered = False
        self.on_end: Callable[[bool], None] | None = None

    def watch(self) -> None:
        """Start to watch. Call it when nothing but the client's disconnect is left to receive."""
        if self._timer is None:
            self._timer = asyncio.get_running_loop().call_later(PATIENCE_SECONDS, self._start)

    def stop(self) -> None:
        """Stop the watch: the response has been sent, or nobody gets it."""
        if self._timer:
            self._timer.cancel()
        if self._watcher:
            self._watcher.cancel()
        on_end, self.on_end = self.on_end, None
        if on_end is not None:
            on_end(self.is_answered)

    def _start(self) -> None:
        self._watcher = asyncio.get_running_loop().create_task(self._wait())

    async def _wait(self) -> None:
        while (await self._receive())["type"] != "http.disconnect":
            pass
        self.has_left = True
        if self._task:
            self._task.cancel()
