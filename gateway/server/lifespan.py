"""Starts up and shuts down a server process.

Under a server that sends no lifespan events (daphne), everything is opened at first use instead, only workers read
the journals of dead processes, and only a call or a health check notices a failover.
"""

import asyncio
import gc
import logging
import sys
from collections.abc import Awaitable
from contextlib import suppress
from typing import Any

from accounts.operations.keyring import keyring
from gateway.core.contract.aliases import Route
from gateway.core.database import DatabaseRefused, close_pool, open_pool, watch_pool
from gateway.core.http.server.stopping import handle_signals
from gateway.core.outbound.client import client, close_client
from gateway.core.outbound.sockets import close_socket_session
from gateway.core.runtime import tested_versions
from gateway.core.runtime.background import drain
from gateway.core.runtime.descriptors import raise_descriptor_limit
from gateway.core.runtime.huge_pages import use_huge_pages
from gateway.core.runtime.malloc import return_large_blocks
from gateway.core.telemetry.observation import COUNT_TOKENS
from gateway.core.telemetry.operations import recorder, tracing
from gateway.health import close_probe
from gateway.metrics.recording import ServerMetrics
from gateway.server.parent import end_with_parent
from gateway.version import VERSION
from inference.metering import alarms, health, journal, out_of_turn
from inference.metering.journal_reader import JournalReader
from inference.metering.served import routes
from inference.queries import catalogue

log = logging.getLogger("gateway.lifespan")
version_log = logging.getLogger("gateway.version")

CALLS_SECONDS = 20.0
"""How long a shutdown waits for calls that were sent upstream, after their requests were answered."""

NEW_OBJECTS_MAX = 5_000
"""The garbage collector runs after this many more allocations than deallocations of container objects. Python's default
of 700 makes it scan the objects of all running calls with every tenth call; hardly any are in a cycle."""

SWITCH_SECONDS = 0.001
"""How long another thread may hold the interpreter's lock when the event loop needs it."""


class Lifespan:
    """Implements ASGI's lifespan protocol."""

    async def __call__(self, scope: dict[str, Any], receive: Any, send: Any) -> None:
        """Open on start-up, drain and close on shutdown. In between, read the journals of dead processes, record metrics and watch the
        pool."""
        try:
            await _live(receive, send)
        finally:
            await close_pool()


async def _live(receive: Any, send: Any) -> None:
    reader, metrics, watch = JournalReader(serves=True), ServerMetrics(), None
    while True:
        message = await receive()
        if message["type"] == "lifespan.startup":
            if (problem := await _start(reader, metrics)) is not None:
                await send({"type": "lifespan.startup.failed", "message": problem})
                return
            watch = asyncio.create_task(watch_pool())
            await send({"type": "lifespan.startup.complete"})
        else:
            if watch is not None:
                watch.cancel()
            await stop()
            reader.stop()  # after the journal's end, so that it reports what is left
            metrics.stop()
            await send({"type": "lifespan.shutdown.complete"})
            return


async def _start(reader: JournalReader, metrics: ServerMetrics) -> str | None:
    """Start, or return why not. uvicorn would serve without what was not started, and say nothing."""
    try:
        await start()
        reader.start()
        metrics.start()
    except DatabaseRefused as refusal:
        return f"The database is not used: {refusal}"
    except Exception as error:
        log.exception("the server cannot start")
        return f"The server cannot start: {type(error).__name__}: {error}"
    return None


async def start() -> None:
    """Open the pools, read catalogue and keys, and exclude long-lived objects from garbage collection; their memory
    moves to huge pages. Log the version, and warn of libraries in untested ones."""
    version_log.info("version %s", VERSION)
    for difference in tested_versions.differences():
        log.warning("%s %s", difference, tested_versions.HINT)
    end_with_parent()
    raise_descriptor_limit()
    return_large_blocks()
    sys.setswitchinterval(SWITCH_SECONDS)
    await open_pool()
    recorder.start()
    paths = {route.value: path for route, (_, path) in routes().items()}
    tracing.start({**paths, COUNT_TOKENS: f"{paths[Route.MESSAGES.value]}/count_tokens"})
    client()
    try:
        await catalogue.current()
        await asyncio.to_thread(keyring.warm)
    except Exception as error:  # noqa: BLE001 - the first request tries again
        log.warning("the catalogue or the signing keys are not available yet: %s", error)
    gc.collect()
    gc.freeze()
    gc.set_threshold(NEW_OBJECTS_MAX)
    use_huge_pages()
    handle_signals()


async def stop() -> None:
    """Wait for running calls to finish, then close."""
    left = await drain(CALLS_SECONDS)
    await _attempt(_end_journal())
    if left:
        log.error("%d calls were still in progress; reconciliation will close them", left)
    for finish in (alarms.finish, health.finish, out_of_turn.finish, recorder.finish, tracing.finish):
        await _attempt(asyncio.to_thread(finish))
    for close in (close_client, close_socket_session, close_probe):
        await _attempt(close())


async def _end_journal() -> None:
    journal.finish()  # in the loop, where calls begin their entries


async def _attempt(step: Awaitable[object]) -> None:
    """Take a step of a shutdown. Its failure keeps no other from being taken."""
    try:
        with suppress(TimeoutError):
            await step
    except Exception:
        log.exception("a step of the shutdown failed")
