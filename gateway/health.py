"""GET /healthz: 200 when the database can be written and the replay store answers, else 503, within two seconds.
GET /readyz: the same, but 503 also from the signal to stop on. GET /livez: 200 while the process can answer.

They run on the event loop with a connection of their own, so that they can respond even if a hanging database has exhausted all
threads and pools.
"""

import asyncio
import logging
import time
from typing import Any

from django.db import connections
from django.http import JsonResponse
from django.views.decorators.http import require_safe
from psycopg import Error

from gateway.core.database.history import History, histories
from gateway.core.database.pooler import is_refused_since
from gateway.core.database.psycopg_internals import LimitedAsyncConnection
from gateway.core.database.refusals import DatabaseRefused
from gateway.core.database.sessions import check_async
from gateway.core.http.draining import drain_of_loop
from gateway.core.http.lean import LeanRequest
from gateway.core.runtime.background import spawn
from gateway.core.runtime.per_loop import PerLoop

log = logging.getLogger("gateway.health")

ANSWER_SECONDS = 1.2
"""Below two seconds, to allow for a busy event loop."""

DRAINS, UNAVAILABLE, READ_ONLY = "", "unavailable", "read_only"

QUESTION = "SELECT current_setting('transaction_read_only') = 'off', (SELECT count(*) FROM accounts_replay_epoch)"


@require_safe
async def healthz(request: LeanRequest) -> JsonResponse:
    """Check whether this process can serve requests."""
    return _status(await _probes.get().reason())


@require_safe
async def readyz(request: LeanRequest) -> JsonResponse:
    """Check whether this process should get requests."""
    return _status(DRAINS if drain_of_loop().has_begun else await _probes.get().reason())


@require_safe
async def livez(request: LeanRequest) -> JsonResponse:
    """Respond: a process that cannot has to be restarted."""
    return _status(None)


def _status(reason: str | None) -> JsonResponse:
    """Answer with 200, or with 503 and why the process is not ready. A process that stops needs no reason."""
    if reason is None:
        return JsonResponse({"status": "ok"})
    named = {"reason": reason} if reason else {}
    return JsonResponse({"status": "not_ready", **named}, status=503)


class _Connection(LimitedAsyncConnection):
    answer_seconds = ANSWER_SECONDS
    history: History | None = None
    opened_at: float  # of the monotonic clock

    @property
    def is_outdated(self) -> bool:
        """Whether this process knows by now of a newer copy of the database, or that the pooler shares sessions."""
        return histories.is_outdated(self.history) or is_refused_since(self.opened_at)


class Probe:
    """One connection and one query at a time, whose result is shared by all concurrent requests."""

    def __init__(self) -> None:
        self._connection: _Connection | None = None
        self._question: asyncio.Task[str | None] | None = None

    async def reason(self) -> str | None:
        """Return None if the database responds within ANSWER_SECONDS and takes writes, or in a word why it is not used."""
        question = self._question
        if question is None or question.done():
            question = self._question = spawn(self._ask())
        await asyncio.wait({question}, timeout=ANSWER_SECONDS)
        return question.result() if question.done() and not question.cancelled() else UNAVAILABLE

    async def close(self) -> None:
        """Hang up."""
        connection, self._connection = self._connection, None
        if connection is not None:
            await connection.close()

    async def _ask(self) -> str | None:
        was_open = self._connection is not None
        try:
            return await self._answer()
        except (Error, OSError) as error:
            await self.close()
            if was_open:  # it may have closed while idle
                return await self._ask()
            log.warning("the database does not answer: %s", error)
            return error.reason if isinstance(error, DatabaseRefused) else UNAVAILABLE

    async def _answer(self) -> str | None:
        histories.refresh()
        if self._connection is not None and self._connection.is_outdated:
            await self.close()
        if self._connection is None:
            self._connection = await _connect()
        cursor = await self._connection.execute(QUESTION)
        row = await cursor.fetchone()
        if row and row[0]:
            return None
        await self.close()  # another server may take writes by now
        return READ_ONLY


async def close_probe() -> None:
    """Close the running loop's connection. Safe to call without one."""
    probe = _probes.pop()
    if probe is not None:
        await probe.close()


_probes = PerLoop(Probe)


async def _connect() -> _Connection:
    parameters, opened_at = _parameters(), time.monotonic()
    connection = await _Connection.connect(**parameters)
    connection.opened_at = opened_at
    try:
        connection.history = await check_async(connection, parameters)
    except BaseException:
        await connection.close()
        raise
    return connection


def _parameters() -> dict[str, Any]:
    params = connections["default"].get_connection_params()
    for name in ("cursor_factory", "context"):  # Django's own, for its synchronous connections
        params.pop(name, None)
    return {**params, "connect_timeout": 2, "autocommit": True, "application_name": "gateway-health"}
