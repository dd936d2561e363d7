"""Replaces the upstream's ids of tool uses by ours."""

from typing import Any

_UNIQUE_CHARACTERS = 26


def rename_call(public_id: str, index: Any, block: dict[str, Any]) -> None:
    """Rename a tool use in place. A client returns the id with the tool's result."""
    if block.get("type") == "tool_use":
        number = index if type(index) is int and 0 <= index < 10_000 else 0
        block["id"] = f"toolu_{public_id[-_UNIQUE_CHARACTERS:]}_{number}"
