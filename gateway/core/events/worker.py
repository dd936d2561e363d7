"""Fans events out and sends them, for as long as its process lives.

Every Celery worker has one, so that nothing waits for a message or for a scheduler. Any number of them share the work.
"""

import asyncio
import logging
import threading
from contextlib import suppress

from django.db import close_old_connections, connections

from gateway.core.database.clock import database_now
from gateway.core.events.adapters.posting import Poster
from gateway.core.events.dispatcher import Dispatcher
from gateway.core.events.operations.fanning_out import fan_out
from gateway.core.runtime.logs import RecurringLog

POLL_SECONDS = 1.0
"""How often the database is asked for new events."""

STOP_SECONDS = 1.0

_failed = RecurringLog("gateway.events", logging.ERROR)


class EventWorker:
    """Two threads: one makes deliveries of events, the other sends them. It may be killed at any point."""

    def __init__(self, poster: Poster | None = None) -> None:
        self._poster = poster or Poster()
        self._is_over = threading.Event()
        self._dispatcher: Dispatcher | None = None
        self._threads = [
            threading.Thread(target=self._fan_out, name="events-fan-out", daemon=True),
            threading.Thread(target=self._send, name="events-sending", daemon=True),
        ]

    def start(self) -> None:
        """Work until `stop`."""
        for thread in self._threads:
            thread.start()

    def stop(self) -> None:
        """Begin nothing more. Returns within two seconds, even if an endpoint or the database does not answer."""
        self._is_over.set()
        if self._dispatcher is not None:
            self._dispatcher.stop()
        self.join(STOP_SECONDS)

    def join(self, seconds: float | None = None) -> None:
        """Wait for the end of each thread, which a message that is under way delays; for `seconds` at most."""
        for thread in self._threads:
            with suppress(RuntimeError):  # it was not started
                thread.join(seconds)

    def _fan_out(self) -> None:
        while not self._is_over.is_set():
            if not self._fan_out_some():
                self._is_over.wait(POLL_SECONDS)
        connections.close_all()

    def _fan_out_some(self) -> int:
        close_old_connections()
        try:
            count = fan_out(now=database_now())
        except Exception as error:  # noqa: BLE001 - a database that is away: the next look tries again
            connections.close_all()
            _failed.write(type(error).__name__, f"events wait: {type(error).__name__}: {error}")
            return 0
        if count and self._dispatcher is not None:
            self._dispatcher.wake()
        return count

    def _send(self) -> None:
        asyncio.run(self._dispatch())

    async def _dispatch(self) -> None:
        self._dispatcher = Dispatcher(self._poster)
        if not self._is_over.is_set():
            await self._dispatcher.run()
