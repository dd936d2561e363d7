"""Checks the parts of an upstream's response that the gateway reads later, to end a stream or to continue from it."""

from typing import Any

from inference.adapters.exchange import NotJSONError
from inference.routes.responses.events import CALLS, PARTS, TERMINAL

_WITH_RESPONSE = frozenset({"response.created", "response.in_progress", *TERMINAL})
_WITH_ITEM = frozenset({"response.output_item.added", "response.output_item.done"})


def check_item(item: Any) -> None:
    """Check an output item, and fill in omitted members in place. Raises NotJSONError."""
    if not isinstance(item, dict) or not isinstance(item.get("type"), str):
        raise NotJSONError("an item without a type")
    kind = item["type"]
    if kind == "message":
        _fill(item, "content", [], list)
        for part in item["content"]:
            check_part(part)
    elif kind in CALLS:
        _fill(item, CALLS[kind][0], "", str)


def check_part(part: Any) -> None:
    """Check a part of a message. Raises NotJSONError."""
    if not isinstance(part, dict) or not isinstance(part.get("type"), str):
        raise NotJSONError("a part without a type")
    if part["type"] in PARTS:
        _fill(part, PARTS[part["type"]], "", str)


def check_event(event: dict[str, Any]) -> None:
    """Check that an event has the object that its type requires, and valid indices. Raises NotJSONError."""
    kind = event["type"]
    if kind in _WITH_RESPONSE and "response" not in event:
        raise NotJSONError("an event without its response")
    if kind in _WITH_ITEM and "item" not in event:
        raise NotJSONError("an event without its item")
    if kind == "response.content_part.added":
        check_part(event.get("part"))
    if not (_is_index(event.get("output_index")) and _is_index(event.get("content_index"))):
        raise NotJSONError("an index that is not an integer")


def _is_index(value: Any) -> bool:
    return value is None or type(value) is int


def _fill(members: dict[str, Any], name: str, empty: Any, kind: type) -> None:
    if members.get(name) is None:
        members[name] = empty
    elif not isinstance(members[name], kind):
        raise NotJSONError(f"{name} of {members['type']} has the wrong type")
