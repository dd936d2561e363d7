"""Take rows several at a time."""

from collections.abc import Iterator, Sequence
from typing import TypeVar

Row = TypeVar("Row")


def chunks(rows: Sequence[Row], size: int) -> Iterator[Sequence[Row]]:
    """Yield the rows in their order, `size` of them at a time."""
    return (rows[start : start + size] for start in range(0, len(rows), size))
