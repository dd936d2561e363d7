"""Reads the input of a responses request."""

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from inference.translation.fields import (
    expected,
    joined,
    objects_in,
    read_object,
    read_optional_text,
    read_text,
    refuse_others,
    unsupported,
)
from inference.translation.items import (
    Audio,
    File,
    FunctionCall,
    FunctionOutput,
    Image,
    Item,
    Message,
    Part,
    Reasoning,
    Refusal,
    Text,
)

_ROLES = ("user", "assistant", "system", "developer")
_OF_EVERY_ITEM = {"type", "id", "status"}
"""An item's id and status describe its record, and are not sent to a model."""


def read_input(body: Mapping[str, Any]) -> Iterator[Item]:
    """Read `input` as items. Raises InvalidRequest with the member at fault."""
    given = body.get("input")
    if isinstance(given, str):
        yield Message("user", (Text(given),), at="input")
        return
    if not isinstance(given, list):
        raise expected("input", "a text or a list of items")
    for path, item in objects_in(body, "input"):
        yield _item(item, path)


def _item(item: Mapping[str, Any], path: str) -> Item:
    kind = item.get("type") or "message"
    read = _ITEMS.get(kind) if isinstance(kind, str) else None
    if read is None:
        raise unsupported(f"{path}.type")
    return read(item, path)


def _message(item: Mapping[str, Any], path: str) -> Message:
    refuse_others(item, {*_OF_EVERY_ITEM, "role", "content", "phase"}, path)
    role = read_text(item, "role", path)
    if role not in _ROLES:
        raise unsupported(joined(path, "role"))
    return Message(role, _parts(item, "content", path), read_optional_text(item, "phase", path), path)


def _call(item: Mapping[str, Any], path: str) -> FunctionCall:
    refuse_others(item, {*_OF_EVERY_ITEM, "call_id", "name", "arguments"}, path)
    return FunctionCall(
        read_text(item, "call_id", path), read_text(item, "name", path), read_text(item, "arguments", path)
    )


def _output(item: Mapping[str, Any], path: str) -> FunctionOutput:
    refuse_others(item, {*_OF_EVERY_ITEM, "call_id", "output"}, path)
    return FunctionOutput(read_text(item, "call_id", path), _parts(item, "output", path))


def _reasoning(item: Mapping[str, Any], path: str) -> Reasoning:
    refuse_others(item, {*_OF_EVERY_ITEM, "summary", "content", "encrypted_content"}, path)
    texts = [read_text(part, "text", at) for at, part in objects_in(item, "content", path)]
    summaries = [read_text(part, "text", at) for at, part in objects_in(item, "summary", path)]
    return Reasoning(
        "".join(texts),
        tuple(summaries),
        read_optional_text(item, "encrypted_content", path),
        read_optional_text(item, "id", path),
    )


_ITEMS: Mapping[str, Callable[[Mapping[str, Any], str], Item]] = {
    "message": _message,
    "function_call": _call,
    "function_call_output": _output,
    "reasoning": _reasoning,
}


def _parts(item: Mapping[str, Any], name: str, path: str) -> tuple[Part, ...]:
    content = item.get(name)
    if isinstance(content, str):
        return (Text(content),) if content else ()
    if content is None:
        raise expected(joined(path, name), "a text or a list of parts")
    return tuple(_part(part, at) for at, part in objects_in(item, name, path))


def _part(part: Mapping[str, Any], path: str) -> Part:
    match part.get("type"):
        case "input_text" | "text":
            refuse_others(part, {"type", "text"}, path)
            return Text(read_text(part, "text", path))
        case "output_text":
            refuse_others(part, {"type", "text", "annotations", "logprobs"}, path)
            return Text(read_text(part, "text", path))
        case "refusal":
            refuse_others(part, {"type", "refusal"}, path)
            return Refusal(read_text(part, "refusal", path))
        case "input_image":
            refuse_others(part, {"type", "image_url", "detail"}, path)
            return Image(read_text(part, "image_url", path), read_optional_text(part, "detail", path), path)
        case "input_audio":
            refuse_others(part, {"type", "input_audio"}, path)
            audio = read_object(part, "input_audio", path)
            refuse_others(audio, {"data", "format"}, f"{path}.input_audio")
            return Audio(read_text(audio, "data", path), read_text(audio, "format", path), path)
        case "input_file":
            refuse_others(part, {"type", "file_data", "file_url", "filename"}, path)
            data, url, filename = (
                read_optional_text(part, name, path) for name in ("file_data", "file_url", "filename")
            )
            return File(data, url, filename, path)
    raise unsupported(f"{path}.type")
