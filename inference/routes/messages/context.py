"""The edits of a context that a client has the vendor make before the model reads it."""

from collections.abc import Mapping
from typing import Any

from gateway.core.contract.errors import InvalidRequest

MEMBER = "context_management"
CLEARING = ("clear_thinking_", "clear_tool_uses_")
"""Beginnings of edits that only take something away, so that the hold of the whole input covers what is left."""


def check_edits(body: Mapping[str, Any]) -> None:
    """Refuse edits that have the provider run a model, such as compaction, and any that are not known to be free."""
    management = body.get(MEMBER)
    if management is None:
        return
    edits = management.get("edits", []) if isinstance(management, dict) else None
    if not isinstance(edits, list) or not all(isinstance(edit, dict) for edit in edits) or set(management) - {"edits"}:
        raise InvalidRequest(f"{MEMBER} must be an object with a list of edits.", param=MEMBER)
    for index, edit in enumerate(edits):
        kind = edit.get("type")
        if not isinstance(kind, str) or not kind.startswith(CLEARING):
            text = "Only edits that clear thinking or tool uses are supported: no price covers what others may cost."
            raise InvalidRequest(text, param=f"{MEMBER}.edits.{index}.type")
