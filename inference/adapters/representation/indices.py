"""The `index` by which a vendor's items say which input they belong to."""

from collections.abc import Sequence
from typing import Any

from inference.adapters.exchange import NotJSONError


def check_indices(items: Sequence[dict[str, Any]]) -> None:
    """Raise NotJSONError unless every index from 0 on is there once, in whatever order."""
    indices = [item["index"] for item in items if type(item.get("index")) is int]
    if sorted(indices) != list(range(len(items))):
        raise NotJSONError("two items for one input")
