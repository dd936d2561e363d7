"""A first-come, first-served gate per key: a few may pass at once, the rest wait their turn in the process.

Requests of one hot wallet would otherwise all wait inside the database for one row's lock, each with a connection of
the pool, and starve everybody else.
"""

import asyncio
from collections import deque
from collections.abc import Hashable


class Gates:
    """Gates of one event loop. A gate exists only while somebody is inside."""

    def __init__(self, width: int) -> None:
        self._width = width
        self._inside: dict[Hashable, int] = {}
        self._waiting: dict[Hashable, deque[asyncio.Future[None]]] = {}

    @property
    def is_empty(self) -> bool:
        """Tell whether nobody is inside any gate."""
        return not self._inside

    async def enter(self, key: Hashable) -> None:
        """Wait until fewer than `width` are inside, then be one of them. Whoever enters must leave."""
        inside = self._inside.get(key, 0)
        if inside < self._width:
            self._inside[key] = inside + 1
            return
        turn: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._waiting.setdefault(key, deque()).append(turn)
        try:
            await turn
        except asyncio.CancelledError:
            self._give_up(key, turn)
            raise

    def leave(self, key: Hashable) -> None:
        """Let the one who waits longest in; where nobody waits, close the gate behind."""
        queue = self._waiting.get(key)
        while queue:
            turn = queue.popleft()
            if not queue:
                del self._waiting[key]
            if not turn.done():
                turn.set_result(None)  # the place is handed over
                return
        inside = self._inside[key] - 1
        if inside:
            self._inside[key] = inside
        else:
            del self._inside[key]

    def _give_up(self, key: Hashable, turn: asyncio.Future[None]) -> None:
        if turn.done() and not turn.cancelled():
            self.leave(key)  # the place had been handed over already
            return
        queue = self._waiting.get(key)
        if queue and turn in queue:
            queue.remove(turn)
            if not queue:
                del self._waiting[key]
