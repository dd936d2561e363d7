"""Cuts a request's inputs into what one call to an upstream takes."""

from collections.abc import Iterator, Sequence
from typing import TypeVar

CALL_MAX_BYTES = 120_000
"""Of text. No tokenizer makes more tokens than bytes, and vendors take 120,000 tokens or more in one call."""
CALL_MAX_INPUTS = 256
"""So many vectors, written as JSON, stay well below the largest answer that is read."""

Item = TypeVar("Item")


def in_calls(
    items: Sequence[Item], sizes: Sequence[tuple[int, int]], *, max_bytes: int = CALL_MAX_BYTES
) -> Iterator[list[Item]]:
    """Cut items, in order, each of a size in (bytes of text, inputs). One that is too large alone goes alone."""
    batch: list[Item] = []
    bytes_so_far = inputs_so_far = 0
    for item, (size_bytes, inputs) in zip(items, sizes, strict=True):
        is_full = bytes_so_far + size_bytes > max_bytes or inputs_so_far + inputs > CALL_MAX_INPUTS
        if batch and is_full:
            yield batch
            batch, bytes_so_far, inputs_so_far = [], 0, 0
        batch.append(item)
        bytes_so_far, inputs_so_far = bytes_so_far + size_bytes, inputs_so_far + inputs
    if batch:
        yield batch
