"""Waits for other threads and processes, and runs calls concurrently."""

import asyncio
import threading
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any, TypeVar

from django.db import connection

from gateway.core.contract.errors import ApiError

PATIENCE_SECONDS = 300.0
"""Far longer than anything takes, so that no test fails on a stalled machine."""

Result = TypeVar("Result")


def eventually(condition: Callable[[], Result], seconds: float = PATIENCE_SECONDS) -> Result:
    """Return the first true result of `condition`; fail if there is none within `seconds`."""
    deadline = time.monotonic() + seconds
    while not (result := condition()):
        assert time.monotonic() < deadline, f"waited {seconds} s in vain"
        time.sleep(0.02)
    return result


async def eventually_async(condition: Callable[[], Result]) -> Result:
    """Wait as `eventually` does without blocking this loop's other tasks."""
    return await asyncio.to_thread(eventually, condition)


def at_once(*calls: Callable[[], Any]) -> list[Any]:
    """Start all calls together, each on its own database connection; return their results, or their errors' codes."""
    barrier = threading.Barrier(len(calls))

    def run(call: Callable[[], Any]) -> Any:
        barrier.wait()
        try:
            return call()
        except ApiError as error:
            return error.code
        finally:
            connection.close()

    with ThreadPoolExecutor(len(calls)) as threads:
        return list(threads.map(run, calls))


def count(results: Sequence[Any], code: str) -> int:
    """Count the calls that were refused with a code."""
    return sum(1 for result in results if result == code)
