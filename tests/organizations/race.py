"""Runs calls at once, each on a database connection of its own."""

import threading
from collections.abc import Callable, Sequence
from typing import Any

from django.db import connection

from gateway.core.contract.errors import ApiError


def at_once(*calls: Callable[[], Any]) -> list[Any]:
    """Start all calls together and give their results; a refusal is given as its code."""
    barrier = threading.Barrier(len(calls))
    results: list[Any] = [None] * len(calls)

    def run(position: int, call: Callable[[], Any]) -> None:
        try:
            barrier.wait()
            results[position] = call()
        except ApiError as error:
            results[position] = error.code
        finally:
            connection.close()

    threads = [threading.Thread(target=run, args=item) for item in enumerate(calls)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return results


def count(results: Sequence[Any], code: str) -> int:
    """Count the calls that were refused with a code."""
    return sum(1 for result in results if result == code)
