"""Per-event-loop objects: connections and pools belong to the loop that opened them."""

import asyncio
from collections.abc import Callable
from typing import Generic, TypeVar
from weakref import WeakKeyDictionary

Thing = TypeVar("Thing")


class PerLoop(Generic[Thing]):
    """One object per running loop, created at first use and dropped with its loop.

    An object that references its loop, as connections do, keeps the loop alive: it is dropped when another loop asks
    for its own. `drop` gets it then, and must not use the loop. The object that was requested last is cached in the same way.
    """

    def __init__(self, make: Callable[[], Thing], drop: Callable[[Thing], None] = lambda thing: None) -> None:
        self._make, self._drop = make, drop
        self._things: WeakKeyDictionary[asyncio.AbstractEventLoop, Thing] = WeakKeyDictionary()
        self._latest: tuple[asyncio.AbstractEventLoop, Thing] | None = None  # of the loop that asked last

    def get(self) -> Thing:
        """Return the running loop's object."""
        loop, latest = asyncio.get_running_loop(), self._latest
        if latest is not None and latest[0] is loop:
            return latest[1]
        thing = self._things.get(loop)
        if thing is None:
            self._forget_closed_loops()
            thing = self._things[loop] = self._make()
        self._latest = loop, thing
        return thing

    def pop(self) -> Thing | None:
        """Remove and return the running loop's object so that the caller can close it; None if there is none."""
        self._latest = None
        return self._things.pop(asyncio.get_running_loop(), None)

    def _forget_closed_loops(self) -> None:
        for loop in [loop for loop in list(self._things) if loop.is_closed()]:
            if (thing := self._things.pop(loop, None)) is not None:  # another thread may have been first
                self._drop(thing)
