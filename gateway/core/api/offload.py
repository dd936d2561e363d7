"""Does what large bodies need beside the event loop, one at a time, with the garbage collector quiet.

One thread is enough: more of them would only hand the interpreter's lock to each other while the event loop waits for
it. What is parsed has no cycles, so that a collector which is woken by a hundred thousand new objects finds nothing.
"""

import asyncio
import gc
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import ParamSpec, TypeVar

from gateway.core.api.json_size import bound_values

Result = TypeVar("Result")
Arguments = ParamSpec("Arguments")

SMALL_BODY_BYTES = 4 * 1024
LARGE_BODY_BYTES = 128 * 1024
LARGE_BODY_VALUES = 2_000

_thread = ThreadPoolExecutor(max_workers=1, thread_name_prefix="large-bodies")


def is_large(body: bytes) -> bool:
    """Return whether parsing a body would keep the event loop longer than a millisecond or two."""
    if len(body) <= SMALL_BODY_BYTES:
        return False
    return len(body) > LARGE_BODY_BYTES or bound_values(body) > LARGE_BODY_VALUES


async def offload(function: Callable[Arguments, Result], *args: Arguments.args, **kwargs: Arguments.kwargs) -> Result:
    """Return what a function returns, or raise what it raises, run when it is its turn in the thread for large
    bodies."""
    work = partial(_quietly, partial(function, *args, **kwargs))
    return await asyncio.get_running_loop().run_in_executor(_thread, work)


def _quietly(work: Callable[[], Result]) -> Result:
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        return work()
    finally:
        if was_enabled:
            gc.enable()
