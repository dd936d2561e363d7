"""Validates and measures the input of a response: a text, or a list of items."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from gateway.core.contract.errors import InvalidRequest
from gateway.core.json.pieces import written
from inference.rules.images import is_inline
from inference.rules.members import refuse_media

Item = Mapping[str, Any]

ROLES = frozenset({"user", "assistant", "system", "developer"})
ITEMS = frozenset(
    {
        "message",
        "function_call",
        "function_call_output",
        "custom_tool_call",
        "custom_tool_call_output",
        "reasoning",
    }
)
PLACES = {
    "message": "content",
    "reasoning": "content",
    "function_call_output": "output",
    "custom_tool_call_output": "output",
}
"""The member with an item's parts, by item type."""

REASONING_PARTS = frozenset({"reasoning_text", "text"})
TEXT_PARTS = {"input_text": "text", "output_text": "text", "text": "text", "refusal": "refusal"}
OTHER_PARTS = {"input_image": "image_url", "input_file": "file_data"}
REFUSED_IN_PARTS = ("file_id", "file_url")


@dataclass(frozen=True, slots=True)
class Measure:
    """`text_bytes` of items; `other_part` is the path of the first part that is not text, `other_parts` their number."""

    text_bytes: int
    other_part: str | None
    other_parts: int


def read_items(sent: Any) -> list[Item]:
    """Read `input` as a list of items, or raise InvalidRequest or ImageRejected naming the member at fault."""
    if isinstance(sent, str):
        return [{"type": "message", "role": "user", "content": [{"type": "input_text", "text": sent}]}]
    if not isinstance(sent, list):
        raise InvalidRequest("input must be a text or a list of items.", param="input")
    for index, item in enumerate(sent):
        _check_item(item, f"input.{index}")
    return sent


def measure(items: list[Item], size_bytes: int, known: int = 0) -> Measure:
    """Measure valid items of `size_bytes`. The first `known` come from a stored response, whose id names them in
    errors."""
    text_bytes, others = 0, []
    for index, item in enumerate(items):
        for path, part in _pieces(item, f"input.{index - known}", size_bytes):
            if isinstance(part, int):
                text_bytes += part
            else:
                others.append(path if index >= known else "previous_response_id")
    return Measure(text_bytes, others[0] if others else None, len(others))


def holders_of(items: Sequence[Item], known: int) -> Iterator[tuple[str, Item]]:
    """Yield what may ask for caching among valid items: themselves and their parts. The first `known` come from a stored
    response, whose id names them in errors."""
    for index, item in enumerate(items):
        path = f"input.{index - known}" if index >= known else ""
        name, parts = parts_of(item)
        yield path or "previous_response_id", item
        for at, part in enumerate(parts):
            yield f"{path}.{name}.{at}" if path else "previous_response_id", part


def _check_item(item: Any, path: str) -> None:
    if not isinstance(item, dict):
        raise InvalidRequest("An input item must be an object.", param=path)
    kind = item.get("type") or ("message" if "role" in item else None)
    if not isinstance(kind, str) or kind not in ITEMS:
        raise InvalidRequest(
            "An input item must be a message, a function or custom tool call, its output, or reasoning.",
            param=f"{path}.type",
        )
    for name in ("content", "output"):
        if item.get(name) is not None and PLACES.get(kind) != name:
            raise InvalidRequest(f"A {kind} has no {name}.", param=f"{path}.{name}")
    if kind == "message":
        _check_message(item, path)
    elif kind == "reasoning":
        _check_reasoning(item.get("content"), f"{path}.content")
    elif kind in PLACES:
        _check_content(item.get("output"), f"{path}.output")


def parts_of(item: Item) -> tuple[str, list[Item]]:
    """Return the parts of a valid item and the member that has them; none if it has a text or nothing."""
    name = PLACES.get(item.get("type") or "message", "")
    parts = item.get(name)
    return name, parts if isinstance(parts, list) else []


def _check_message(item: Item, path: str) -> None:
    role = item.get("role")
    if not isinstance(role, str) or role not in ROLES:
        raise InvalidRequest("A message needs a role: user, assistant, system or developer.", param=f"{path}.role")
    _check_content(item.get("content"), f"{path}.content")


def _check_reasoning(content: Any, path: str) -> None:
    """Refuse content that is not text, because reasoning is measured by its bytes."""
    if not (content is None or isinstance(content, list)):
        raise InvalidRequest("It must be a list of parts.", param=path)
    for index, part in enumerate(content or ()):
        kind = part.get("type") if isinstance(part, dict) else None
        if not isinstance(kind, str) or kind not in REASONING_PARTS or not isinstance(part.get("text"), str):
            raise InvalidRequest("Reasoning is text.", param=f"{path}.{index}")


def _check_content(content: Any, path: str) -> None:
    if isinstance(content, str):
        return
    if not isinstance(content, list):
        raise InvalidRequest("It must be a text or a list of parts.", param=path)
    for index, part in enumerate(content):
        if not isinstance(part, dict):
            raise InvalidRequest("A content part must be an object.", param=f"{path}.{index}")
        _check_part(part, f"{path}.{index}")


def _check_part(part: Item, path: str) -> None:
    kind = part.get("type")
    if not isinstance(kind, str) or (kind not in TEXT_PARTS and kind not in OTHER_PARTS):
        raise InvalidRequest("A content part must be text, a refusal, an image or a file.", param=f"{path}.type")
    for name in REFUSED_IN_PARTS:
        if part.get(name) is not None:
            raise InvalidRequest(f"{name} is not supported here; send the data itself.", param=f"{path}.{name}")
    refuse_media(part, OTHER_PARTS.get(kind, ""), path)
    if kind == "input_file":
        _check_file(part.get("file_data"), f"{path}.file_data")
    elif kind in TEXT_PARTS and not isinstance(part.get(TEXT_PARTS[kind]), str):
        raise InvalidRequest("A text part needs its text.", param=f"{path}.{TEXT_PARTS[kind]}")


def _check_file(data: Any, path: str) -> None:
    if not isinstance(data, str) or (":" in data and not is_inline(data)):
        raise InvalidRequest("file_data must be base64, or a data URL.", param=path)


def _pieces(item: Item, path: str, size_bytes: int) -> Iterator[tuple[str, int | None]]:
    """Yield the size of every text, and None for every other part, with its path."""
    name, parts = parts_of(item)
    content = item.get(name)
    if item.get("type") == "reasoning" or not isinstance(content, str | list):  # a call has no parts
        yield path, len(written(item, size_bytes))
    elif isinstance(content, str):
        yield path, len(content.encode())
    else:
        for index, part in enumerate(parts):
            text = part.get(TEXT_PARTS.get(part["type"], ""))
            yield f"{path}.{name}.{index}", len(text.encode()) if isinstance(text, str) else None
