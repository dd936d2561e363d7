"""Work that outlives the request that began it.

The event loop keeps only weak references to tasks, so whatever must finish is held here until it has, and is waited for
when the process stops.
"""

import asyncio
import logging
from collections.abc import Coroutine
from typing import Any, TypeVar

log = logging.getLogger("gateway.background")

Result = TypeVar("Result")

_running: set[asyncio.Task[Any]] = set()


def spawn(work: Coroutine[Any, Any, Result]) -> asyncio.Task[Result]:
    """Run work in a task of its own, which no request's cancellation reaches. A failure is logged."""
    task = asyncio.get_running_loop().create_task(work)
    _running.add(task)
    task.add_done_callback(_finished)
    return task


async def drain(timeout_seconds: float) -> int:
    """Wait for everything that was spawned on this loop, up to a limit, and tell how many tasks did not finish."""
    loop = asyncio.get_running_loop()
    deadline = loop.time() + timeout_seconds
    while mine := [task for task in _running if task.get_loop() is loop]:
        left = deadline - loop.time()
        if left <= 0:
            return len(mine)
        await asyncio.wait(mine, timeout=left)
    return 0


def _finished(task: asyncio.Task[Any]) -> None:
    _running.discard(task)
    if not task.cancelled() and (error := task.exception()):
        log.error("background work failed", exc_info=error)
