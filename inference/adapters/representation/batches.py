"""Splits a request's inputs into batches that fit one upstream call."""

from collections.abc import Iterator, Sequence
from typing import TypeVar

CALL_MAX_BYTES = 120_000
"""The most text of one call. No tokenizer yields more tokens than bytes, and vendors accept at least 120,000 tokens."""
CALL_MAX_INPUTS = 256
"""This many vectors, serialized as JSON, stay well below the limit for an answer."""

Item = TypeVar("Item")


def in_batches(
    items: Sequence[Item],
    sizes: Sequence[tuple[int, int]],
    *,
    max_bytes: int = CALL_MAX_BYTES,
    max_inputs: int = CALL_MAX_INPUTS,
) -> Iterator[list[Item]]:
    """Split items into batches, in order. `sizes` has each item's (bytes of text, inputs). An item beyond a limit gets a batch
    of its own."""
    batch: list[Item] = []
    bytes_so_far = inputs_so_far = 0
    for item, (size_bytes, inputs) in zip(items, sizes, strict=True):
        is_full = bytes_so_far + size_bytes > max_bytes or inputs_so_far + inputs > max_inputs
        if batch and is_full:
            yield batch
            batch, bytes_so_far, inputs_so_far = [], 0, 0
        batch.append(item)
        bytes_so_far, inputs_so_far = bytes_so_far + size_bytes, inputs_so_far + inputs
    if batch:
        yield batch
