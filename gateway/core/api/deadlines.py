"""Calls back whatever is overdue. One timer serves all of an event loop, so that a wait that ends in time costs none."""

import asyncio
from collections.abc import Callable
from contextvars import Context

from gateway.core.api.per_loop import PerLoop

LOOK_SECONDS = 0.1
"""A callback may be so much late."""


class Deadline:
    """When something is overdue, in seconds of its loop's clock, and what is called then."""

    __slots__ = ("_pending", "at", "call")

    def __init__(self, pending: "set[Deadline]", at: float, call: Callable[[], None]) -> None:
        self._pending, self.at, self.call = pending, at, call
        pending.add(self)

    def drop(self) -> None:
        """Forget the deadline, also where it has passed."""
        self._pending.discard(self)


class Deadlines:
    """The deadlines of one event loop."""

    def __init__(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._pending: set[Deadline] = set()
        self._is_looking = False

    def set(self, seconds: float, call: Callable[[], None]) -> Deadline:
        """Have `call` called when so many seconds are over, unless the deadline is dropped before."""
        deadline = Deadline(self._pending, self._loop.time() + seconds, call)
        if not self._is_looking:
            self._look_again()
        return deadline

    def _look_again(self) -> None:
        self._is_looking = bool(self._pending)
        if self._is_looking:
            # In a context of its own: it must not keep, nor act in, that of the request which happened to begin it.
            self._loop.call_later(LOOK_SECONDS, self._look, context=Context())

    def _look(self) -> None:
        now = self._loop.time()
        for deadline in self._pending:
            if deadline.at <= now:
                self._loop.call_soon(self._call, deadline)  # so that one that fails keeps no other from being called
        self._look_again()

    def _call(self, deadline: Deadline) -> None:
        """Call back, unless the deadline was dropped since it was looked at."""
        if deadline in self._pending:
            deadline.drop()
            deadline.call()


_deadlines = PerLoop(Deadlines)


def deadlines() -> Deadlines:
    """Return the running loop's."""
    return _deadlines.get()
