"""Counts the streams and live sessions that are open in this process."""

from collections.abc import Iterator
from contextlib import contextmanager

_open = 0


def count() -> int:
    """Return how many are open now."""
    return _open


def begin() -> None:
    """Count one that was opened. `end` must follow."""
    global _open  # noqa: PLW0603 - of this process, whose calls run in one thread
    _open += 1


def end() -> None:
    """Count its end."""
    global _open  # noqa: PLW0603
    _open -= 1


@contextmanager
def counted() -> Iterator[None]:
    """Count one for the context."""
    begin()
    try:
        yield
    finally:
        end()
