"""Background tasks that outlive the request that started them.

The event loop keeps only weak references to tasks, so tasks that must finish are referenced here until they do, and the
process waits for them when it stops.
"""

import asyncio
import logging
from collections.abc import Coroutine
from typing import Any, TypeVar

log = logging.getLogger("gateway.background")

Result = TypeVar("Result")

_running: set[asyncio.Task[Any]] = set()


def spawn(work: Coroutine[Any, Any, Result]) -> asyncio.Task[Result]:
    """Run a coroutine in its own task, independent of the request's cancellation. A failure is logged."""
    task = asyncio.get_running_loop().create_task(work)
    _running.add(task)
    task.add_done_callback(_finished)
    return task


async def drain(timeout_seconds: float) -> int:
    """Wait for all tasks of this loop, up to a timeout, and return how many did not finish."""
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
