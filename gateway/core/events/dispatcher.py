"""Sends what is due, to many endpoints at once and to each of them in short turns.

A turn lasts a few seconds and the answer that is awaited then, so an endpoint with much to send, or that does not answer, delays no
other. Endpoints that fail have places of their own. In a turn, a few messages are under way at once, and those of an owner one after
another.
"""

import asyncio
import logging
import time
from collections import deque
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from typing import Any, TypeVar

from django.db import close_old_connections, connections

from gateway.core.database.clock import database_now
from gateway.core.events.adapters.posting import Line, Poster
from gateway.core.events.operations import deliveries
from gateway.core.events.operations.deliveries import Message, Target, Turn
from gateway.core.runtime.logs import RecurringLog

TURN_SECONDS = 5.0
"""When a turn begins no further message."""

TURNS_MAX = 32
"""The most turns at once, of endpoints that fail, and as many of others."""

AT_ONCE = 4
"""The most messages under way to one endpoint."""

BATCH = 100
"""The most messages of an endpoint in memory."""

POLL_SECONDS = 1.0
"""How often the database is asked for what is due, if nothing says that there is something."""

Result = TypeVar("Result")

_failed = RecurringLog("gateway.events", logging.ERROR)


class Dispatcher:
    """Sends in the running event loop. All statements run in one thread, which has one connection to the database."""

    def __init__(self, poster: Poster) -> None:
        self._poster = poster
        self._database = ThreadPoolExecutor(1, thread_name_prefix="events-database")
        self._loop = asyncio.get_running_loop()
        self._woken = asyncio.Event()
        self._is_over = False
        self._turns: dict[bool, set[asyncio.Task[None]]] = {False: set(), True: set()}

    async def run(self) -> None:
        """Send until `stop`; then wait for the messages that are under way."""
        try:
            while not self._is_over:
                self._woken.clear()
                await self.begin_turns()
                with suppress(TimeoutError):
                    await asyncio.wait_for(self._woken.wait(), POLL_SECONDS)
            await self.end_turns()
        finally:
            await self._ask(connections.close_all)
            self._database.shutdown(wait=False)

    def wake(self) -> None:
        """Look at once for what is due. Any thread may call this."""
        with suppress(RuntimeError):  # the loop has ended
            self._loop.call_soon_threadsafe(self._woken.set)

    def stop(self) -> None:
        """Begin no further message. Any thread may call this."""
        self._is_over = True
        self.wake()

    async def begin_turns(self) -> int:
        """Begin a turn for each endpoint for which something is due, as many as there are places; return how many."""
        begun = 0
        for failing, turns in self._turns.items():
            for turn in await self._claim(TURNS_MAX - len(turns), failing):
                task = asyncio.create_task(self._serve(turn))
                turns.add(task)
                task.add_done_callback(turns.discard)
                begun += 1
        return begun

    async def end_turns(self) -> None:
        """Wait for the turns that have begun."""
        while running := [task for turns in self._turns.values() for task in turns]:
            await asyncio.wait(running)

    async def _claim(self, limit: int, failing: bool) -> list[Turn]:
        if limit <= 0:
            return []
        try:
            await self._ask(close_old_connections)  # to the newest copy of the database, after a failover
            return await self._ask(lambda: deliveries.claim(now=database_now(), limit=limit, failing=failing))
        except Exception as error:  # noqa: BLE001 - a database that is away: the next look tries again
            _failed.write(type(error).__name__, f"deliveries wait: {type(error).__name__}: {error}")
            return []

    async def _serve(self, turn: Turn) -> None:
        try:
            try:
                await self._take(turn)
            finally:
                await self._ask(lambda: deliveries.release(turn, now=database_now()))
            self.wake()
        except Exception as error:  # noqa: BLE001 - what was not recorded is sent again once the lease has ended
            _failed.write(turn.name, f"deliveries to {turn.name} wait: {type(error).__name__}: {error}")

    async def _take(self, turn: Turn) -> None:
        ends_at = self._loop.time() + TURN_SECONDS
        target = await self._ask(lambda: deliveries.target_of(turn, now=database_now()))
        if target is None:
            return
        async with self._poster.connected(target.url, at_once=AT_ONCE) as line:
            sending = _Sending(turn, target, line, lambda: self._is_over or self._loop.time() >= ends_at, self._ask)
            while not sending.is_over():
                due = await self._ask(lambda: deliveries.due(turn, now=database_now(), limit=BATCH))
                if not due:
                    return
                await sending.send(due)

    async def _ask(self, call: Callable[[], Result]) -> Result:
        return await self._loop.run_in_executor(self._database, _with_connection, call)


class _Sending:
    """The messages of one turn."""

    def __init__(
        self, turn: Turn, target: Target, line: Line, is_over: Callable[[], bool], ask: Callable[..., Any]
    ) -> None:
        self._turn, self._target, self._line, self._ask = turn, target, line, ask
        self._is_time, self._is_disabled = is_over, False

    def is_over(self) -> bool:
        """Return whether no further message is begun."""
        return self._is_disabled or self._is_time()

    async def send(self, messages: Sequence[Message]) -> None:
        """Send messages, AT_ONCE at a time, and those of an owner one after another."""
        by_owner: dict[tuple[str, str], list[Message]] = {}
        for message in messages:
            by_owner.setdefault(message.owner, []).append(message)
        waiting = deque(by_owner.values())
        async with asyncio.TaskGroup() as lanes:
            for _ in range(min(AT_ONCE, len(waiting))):
                lanes.create_task(self._send_owners(waiting))

    async def _send_owners(self, waiting: deque[list[Message]]) -> None:
        while waiting and not self.is_over():
            for message in waiting.popleft():
                if self.is_over():
                    return
                await self._send(message)

    async def _send(self, message: Message) -> None:
        headers = message.headers(self._target.secrets, timestamp=int(time.time()))
        answer = await self._line.post(message.body, headers)
        goes_on = await self._ask(lambda: deliveries.note(self._turn, message, answer, now=database_now()))
        self._is_disabled = self._is_disabled or not goes_on


def _with_connection(call: Callable[[], Result]) -> Result:
    """Run statements on this thread's connection. One that broke is replaced by the next call."""
    try:
        return call()
    except Exception:
        connections.close_all()
        raise
