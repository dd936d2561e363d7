"""Checks the `index` that assigns a vendor's items to inputs."""

from collections.abc import Sequence
from typing import Any

from inference.adapters.exchange import NotJSONError


def check_indices(items: Sequence[dict[str, Any]]) -> None:
    """Raise NotJSONError unless each index from 0 on occurs once, in any order."""
    indices = [item["index"] for item in items if type(item.get("index")) is int]
    if sorted(indices) != list(range(len(items))):
        raise NotJSONError("not exactly one item for each index")
