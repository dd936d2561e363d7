"""The end of a server process: it first says that it is not ready, then accepts nothing new, then cuts what is still
open."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager

from django.conf import settings

from gateway.core.contract.errors import NotReady
from gateway.core.runtime.per_loop import PerLoop


class ServerStopped(NotReady):
    """The server process ended a response, because DRAIN_SECONDS were over."""

    default_message = "This server was stopped before the end. Another one serves new requests."


class Drain:
    """How far one server's end has come. `has_begun` says that it should get no more requests, and `linger_seconds` how long its
    connections without one stay open when the port is closed."""

    def __init__(self) -> None:
        self.has_begun = False
        self.is_over = False
        self.linger_seconds = 0.0
        self._cuts: set[Callable[[], None]] = set()
        self._timer: asyncio.TimerHandle | None = None

    @property
    def is_port_closed(self) -> bool:
        """Whether no more connections are accepted."""
        return self._timer is not None

    def begin(self, linger_seconds: float = 0.0) -> None:
        """Record that the server is about to stop. It still serves requests."""
        self.has_begun, self.linger_seconds = True, linger_seconds

    def end_soon(self) -> None:
        """Start the DRAIN_SECONDS that are left to what is open. Repeating changes nothing."""
        self.has_begun = True
        if self._timer is None:
            self._timer = asyncio.get_running_loop().call_later(settings.DRAIN_SECONDS, self._end)

    def on_cut(self, cut: Callable[[], None]) -> None:
        """Call `cut` once the time is over; at once, but not before the caller's next pause, if it already is."""
        self._cuts.add(cut)
        if self.is_over:
            asyncio.get_running_loop().call_soon(self._cut, cut)

    def forget(self, cut: Callable[[], None]) -> None:
        """Undo `on_cut`: the work has ended by itself. Repeating changes nothing."""
        self._cuts.discard(cut)

    def _end(self) -> None:
        self.is_over = True
        for cut in list(self._cuts):
            self._cut(cut)

    def _cut(self, cut: Callable[[], None]) -> None:
        if cut in self._cuts:
            self._cuts.remove(cut)
            cut()


_drains = PerLoop(Drain)


def drain_of_loop() -> Drain:
    """Return the drain of the running loop's server."""
    return _drains.get()


@asynccontextmanager
async def until_cut() -> AsyncIterator[None]:
    """Cancel the block once the time to drain is over. Raises ServerStopped then."""
    drain, now = drain_of_loop(), asyncio.get_running_loop().time
    patience = asyncio.timeout(None)

    def cut() -> None:
        patience.reschedule(now())

    try:
        async with patience:
            drain.on_cut(cut)
            try:
                yield
            finally:
                drain.forget(cut)
    except TimeoutError:
        if not patience.expired():
            raise
        message = "This server is stopping. Repeat the request with its Idempotency-Key to get the answer."
        raise ServerStopped(message, headers={"Retry-After": "1", "Connection": "close"}) from None
