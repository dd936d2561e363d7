"""Runs the processing of large bodies off the event loop, one at a time, with the garbage collector disabled.

The accounts take turns. One thread is enough: more would only contend for the interpreter's lock while the event loop waits for it. Parsed JSON
has no reference cycles, so a collection triggered by a hundred thousand new objects would find nothing.
"""

import gc
from collections.abc import Callable
from functools import partial
from typing import ParamSpec, TypeVar

from gateway.core.json.parts import bound_values
from gateway.core.runtime.turns import Turns

Result = TypeVar("Result")
Arguments = ParamSpec("Arguments")

SMALL_BODY_BYTES = 4 * 1024
LARGE_BODY_BYTES = 128 * 1024
LARGE_BODY_VALUES = 2_000

_turns = Turns("large-bodies")


def is_large(body: bytes) -> bool:
    """Return whether parsing a body would block the event loop for more than a millisecond or two."""
    if len(body) <= SMALL_BODY_BYTES:
        return False
    return len(body) > LARGE_BODY_BYTES or bound_values(body) > LARGE_BODY_VALUES


async def offload(function: Callable[Arguments, Result], *args: Arguments.args, **kwargs: Arguments.kwargs) -> Result:
    """Return what a function returns, or raise what it raises, run in the thread for large bodies."""
    return await _turns.run(_quietly, partial(function, *args, **kwargs))


def _quietly(work: Callable[[], Result]) -> Result:
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        return work()
    finally:
        if was_enabled:
            gc.enable()
