"""Two server processes on the tests' database, for what comes to both at once."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from itertools import cycle
from typing import Any

import httpx

from tests.factories.accounts import Caller
from tests.support.processes import gateway_process


@contextmanager
def two_processes(**environment: str) -> Iterator[list[str]]:
    """Run them, and give their origins."""
    with gateway_process(**environment) as (one, _), gateway_process(**environment) as (other, _):
        yield [one, other]


def by_turns(origins: Sequence[str], send: Callable[..., Any], each: Sequence[Any]) -> list[Callable[[], Any]]:
    """Make the calls `send(origin, one)` for each, to the processes by turns."""
    return [partial(send, origin, one) for origin, one in zip(cycle(origins), each, strict=False)]


def send(caller: Caller, origin: str, method: str, path: str, body: Any = None) -> httpx.Response:
    """Send a request of the API with a new proof."""
    headers = caller.headers(method, path)
    return httpx.request(method, origin + path, json=body, headers=headers, timeout=60)
