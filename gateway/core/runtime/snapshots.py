"""Caches values that every process reads from the database at intervals."""

import asyncio
import logging
import time
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from threading import Lock
from typing import Generic, TypeVar

import psycopg
from django.db import DatabaseError, InterfaceError, connections

from gateway.core.contract.errors import NotReady

log = logging.getLogger("gateway.snapshots")

WAIT_SECONDS = 2.0
"""How long a caller waits for a snapshot if there is no usable one."""

Value = TypeVar("Value")


class Snapshot(Generic[Value]):
    """The latest value that `take` read. Thread-safe, and never blocks an event loop.

    A value older than `fresh_seconds` is still served while one thread takes the next; callers wait if it is older than
    `usable_seconds`. A failure is logged, and the next caller tries again.
    """

    def __init__(
        self,
        take: Callable[[], Value],
        *,
        name: str,
        fresh_seconds: float,
        usable_seconds: float,
    ) -> None:
        self._take, self._name = take, name
        self.fresh_seconds, self.usable_seconds = fresh_seconds, usable_seconds
        self._latest: tuple[float, Value] | None = None
        self._forgotten = 0
        self._taking = Lock()
        self._beginning = Lock()
        self._beside: Future[None] | None = None
        self._thread = ThreadPoolExecutor(max_workers=1, thread_name_prefix=name)

    @property
    def age_seconds(self) -> float:
        """Return the maximum age of the value, infinite if there is none."""
        latest = self._latest
        return time.monotonic() - latest[0] if latest else float("inf")

    @property
    def is_usable(self) -> bool:
        """Return whether there is a value that is recent enough."""
        return self.age_seconds <= self.usable_seconds

    def cached(self) -> Value:
        """Return the current value, or raise NotReady if it is too old. No I/O."""
        latest = self._latest
        if latest is None or time.monotonic() - latest[0] > self.usable_seconds:
            raise NotReady(headers={"Retry-After": "1"}, private=f"no usable snapshot of {self._name}")
        return latest[1]

    async def current(self) -> Value:
        """Return a usable value, or raise NotReady."""
        latest = self._latest
        age_seconds = time.monotonic() - latest[0] if latest else float("inf")
        if latest is None or age_seconds > self.usable_seconds:
            await self.renewed()
            return self.cached()
        if age_seconds > self.fresh_seconds:
            self._begin()
        return latest[1]

    async def renewed(self) -> None:
        """Wait for a snapshot to be taken, whether or not it succeeds."""
        await asyncio.wait([asyncio.wrap_future(self._begin())], timeout=WAIT_SECONDS)

    def current_sync(self) -> Value:
        """Return a usable value to code that may block, or raise NotReady. It is read on the caller's connection."""
        if not self.is_usable:
            self.renew_sync()
        elif self.age_seconds > self.fresh_seconds and self._taking.acquire(blocking=False):
            self._take_and_release()
        return self.cached()

    def renew_sync(self) -> None:
        """Take the next snapshot, or wait for the thread that is taking it."""
        latest = self._latest
        if not self._taking.acquire(timeout=WAIT_SECONDS):
            return
        if self._latest is latest:
            self._take_and_release()
        else:
            self._taking.release()

    def forget(self) -> None:
        """Drop the value, so that the next caller sees the current rows."""
        with self._beginning:
            self._latest, self._beside = None, None
            self._forgotten += 1

    def _begin(self) -> "Future[None]":
        with self._beginning:
            if self._beside is None or self._beside.done():
                self._beside = self._thread.submit(self._take_beside)
            return self._beside

    def _take_beside(self) -> None:
        try:
            if self._taking.acquire(timeout=WAIT_SECONDS):
                self._take_and_release()
        finally:
            connections.close_all()  # this thread's own: back to the pool

    def _take_and_release(self) -> None:
        forgotten, taken_at = self._forgotten, time.monotonic()
        try:
            value = self._take()
        except (DatabaseError, InterfaceError, psycopg.Error) as error:
            log.warning("could not take a snapshot of %s: %s", self._name, error)
        else:
            if forgotten == self._forgotten:
                self._latest = taken_at, value
        finally:
            self._taking.release()
