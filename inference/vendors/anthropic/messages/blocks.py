"""The blocks of messages: checks those that an upstream sends, and leaves out what it does not take back."""

from collections.abc import Iterable, Mapping
from typing import Any

from inference.adapters.exchange import NotJSONError
from inference.routes.messages.content import is_foreign_thinking

_UNIQUE_CHARACTERS = 26

_TEXTS = {"text": "text", "thinking": "thinking", "redacted_thinking": "data", "tool_use": "name"}
_DELTAS = {
    "text_delta": "text",
    "thinking_delta": "thinking",
    "signature_delta": "signature",
    "input_json_delta": "partial_json",
}
"""The member of each known kind that must be a text. Unknown kinds are forwarded as they are."""


def read_block(public_id: str, index: int, block: Any) -> dict[str, Any]:
    """Return a block, of which the id of a tool use was replaced by ours: a client returns it with the tool's result. Raises
    NotJSONError for what clients cannot read."""
    kind = block.get("type") if isinstance(block, dict) else None
    if not isinstance(block, dict) or not isinstance(kind, str):
        raise NotJSONError("a block without a type")
    _check_text(block, _TEXTS.get(kind))
    if kind == "tool_use":
        if block.get("input") is None:
            block["input"] = {}
        if not isinstance(block["input"], dict):
            raise NotJSONError("a tool use whose input is not an object")
        block["id"] = f"toolu_{public_id[-_UNIQUE_CHARACTERS:]}_{index}"
    return block


def check_delta(delta: Any) -> None:
    """Raise NotJSONError for a delta that clients cannot read."""
    kind = delta.get("type") if isinstance(delta, dict) else None
    if not isinstance(kind, str):
        raise NotJSONError("a delta without a type")
    _check_text(delta, _DELTAS.get(kind))


def without_foreign_thinking(messages: Iterable[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    """Return messages without the thinking that no provider signed, which the vendor refuses, and without those that are empty
    then."""
    kept: list[Mapping[str, Any]] = []
    for message in messages:
        content = message.get("content")
        if not isinstance(content, list) or not any(map(is_foreign_thinking, content)):
            kept.append(message)
        elif blocks := [block for block in content if not is_foreign_thinking(block)]:
            kept.append({**message, "content": blocks})
    return kept


def _check_text(members: Mapping[str, Any], name: str | None) -> None:
    if name is not None and not isinstance(members.get(name), str):
        raise NotJSONError(f"{name} is not a text")
