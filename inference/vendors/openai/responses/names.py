"""Replaces the upstream's names by ours in a response, in its items, and in its events.

The parts that the gateway reads later, to end a stream or to continue from it, are checked first.
"""

from collections.abc import Mapping
from typing import Any

from inference.adapters.error_codes import TEXT_OF_CODE
from inference.adapters.exchange import NotJSONError
from inference.adapters.http_endpoint import replace_upstream_names
from inference.interface.upstream import Attempt
from inference.routes.responses.events import CALLS, PARTS, TERMINAL
from inference.routes.responses.stream import SERVER_ERROR

_WITH_RESPONSE = frozenset({"response.created", "response.in_progress", *TERMINAL})
_WITH_ITEM = frozenset({"response.output_item.added", "response.output_item.done"})

PRIVATE_MEMBERS = ("billing", "conversation", "tool_usage")
"""Top-level members of a response that reveal the operator's account at the upstream."""

STATUSES = frozenset({"completed", "incomplete", "failed", "in_progress", "queued"})

_PREFIXES = {"message": "msg", "reasoning": "rs", "function_call": "fc", "custom_tool_call": "ctc"}

_UNIQUE_CHARACTERS = 26


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


def convert_response(attempt: Attempt[Any], response: Any) -> None:
    """Replace the upstream's names in a response, in place. Raises NotJSONError if it does not have a response's shape."""
    if not isinstance(response, dict) or not isinstance(response.get("output"), list):
        raise NotJSONError("a response without output")
    if not isinstance(response.get("status"), str) or response["status"] not in STATUSES:
        raise NotJSONError("a response without a status")
    response["id"] = attempt.call.public_id
    replace_upstream_names(attempt, response)
    for member in PRIVATE_MEMBERS:
        response.pop(member, None)
    if response.get("error"):
        response["error"] = _error(response["error"])
    response.update(attempt.request.params.ours)
    for index, item in enumerate(response["output"]):
        convert_item(attempt, index, item)


def convert_item(attempt: Attempt[Any], index: int, item: Any) -> str:
    """Replace the ids in an output item by ours, in place, and return its id. An item has the same id in all events."""
    check_item(item)
    unique = attempt.call.public_id[-_UNIQUE_CHARACTERS:]
    ours = f"{_PREFIXES.get(item['type'], 'item')}_{unique}_{index}"
    item["id"] = ours
    if item.get("call_id"):
        item["call_id"] = f"call_{unique}_{index}"
    return ours


def _error(error: Any) -> dict[str, Any]:
    """Keep a recognised code. The message is ours, because the upstream's may contain anything."""
    code = error.get("code") if isinstance(error, Mapping) else None
    if isinstance(code, str) and code.lower() in TEXT_OF_CODE:
        return {"code": code, "message": TEXT_OF_CODE[code.lower()]}
    return {"code": SERVER_ERROR, "message": "The model's provider failed."}
