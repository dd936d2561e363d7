"""The vendor's events of a response, in its order."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

import orjson

Event = dict[str, Any]
Named = tuple[str, dict[str, Any]]
Pieces = Callable[[str], Iterable[str]]

TERMINAL = frozenset({"response.completed", "response.incomplete", "response.failed"})

OUTPUT_DELTAS = frozenset(
    {
        "response.output_text.delta",
        "response.refusal.delta",
        "response.function_call_arguments.delta",
        "response.custom_tool_call_input.delta",
        "response.reasoning_text.delta",
    }
)
"""Events with output that counts as tokens. Summaries of reasoning do not count."""

PARTS = {"output_text": "text", "refusal": "refusal"}
"""The member with a part's text, by part type."""

# For calls: the member with the text, and the names of the events.
CALLS = {
    "function_call": ("arguments", "response.function_call_arguments"),
    "custom_tool_call": ("input", "response.custom_tool_call_input"),
}


def render(event: Mapping[str, Any]) -> bytes:
    """Render one event as the vendor does, its name before its data."""
    return b"event: %b\ndata: %b\n\n" % (event["type"].encode(), orjson.dumps(event))


def events_of(response: Mapping[str, Any], pieces: Pieces = lambda text: [text]) -> Iterator[Event]:
    """Yield the events of a complete response; `pieces` splits the texts of its output into deltas."""
    for number, (kind, members) in enumerate(_named(response, pieces)):
        yield {"type": kind, "sequence_number": number, **members}


def _named(response: Mapping[str, Any], pieces: Pieces) -> Iterator[Named]:
    begun = {
        **response,
        "status": "in_progress",
        "error": None,
        "incomplete_details": None,
        "output": [],
        "usage": None,
    }
    yield "response.created", {"response": begun}
    yield "response.in_progress", {"response": begun}
    for index, item in enumerate(response["output"]):
        yield from _of_item(index, item, pieces)
    yield f"response.{response['status']}", {"response": response}


def _of_item(index: int, item: Mapping[str, Any], pieces: Pieces) -> Iterator[Named]:
    place = {"output_index": index}
    at = {"item_id": item.get("id"), **place}
    yield "response.output_item.added", {**place, "item": _begun(item)}
    if item.get("type") == "message":
        for number, part in enumerate(item["content"]):
            yield from _of_part({**at, "content_index": number}, part, pieces)
    elif item.get("type") in CALLS:
        member, name = CALLS[item["type"]]
        for piece in pieces(item[member]):
            yield f"{name}.delta", {**at, "delta": piece}
        named = {"name": item.get("name")} if member == "arguments" else {}
        yield f"{name}.done", {**at, **named, member: item[member]}
    yield "response.output_item.done", {**place, "item": item}


def _begun(item: Mapping[str, Any]) -> dict[str, Any]:
    begun = {**item, "status": "in_progress"} if "status" in item else {**item}
    if item.get("type") == "message":
        begun["content"] = []
    elif item.get("type") in CALLS:
        begun[CALLS[item["type"]][0]] = ""
    return begun


def _of_part(at: Mapping[str, Any], part: Mapping[str, Any], pieces: Pieces) -> Iterator[Named]:
    if part["type"] not in PARTS:
        yield "response.content_part.added", {**at, "part": part}
        yield "response.content_part.done", {**at, "part": part}
        return
    name, member = part["type"], PARTS[part["type"]]
    logprobs: dict[str, Any] = {"logprobs": part.get("logprobs") or []} if member == "text" else {}
    yield "response.content_part.added", {**at, "part": {**part, member: ""}}
    for piece in pieces(part[member]):
        yield f"response.{name}.delta", {**at, "delta": piece, **logprobs}
    yield f"response.{name}.done", {**at, member: part[member], **logprobs}
    yield "response.content_part.done", {**at, "part": part}
