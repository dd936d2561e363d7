"""Reads the input of a responses request."""

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from inference.translation import fields, items

_ROLES = ("user", "assistant", "system", "developer")
_OF_EVERY_ITEM = {"type", "id", "status"}
"""An item's id and status describe its record, and are not sent to a model."""


def read_input(body: Mapping[str, Any]) -> Iterator[items.Item]:
    """Read `input` as items. Raises InvalidRequest with the member at fault."""
    given = body.get("input")
    if isinstance(given, str):
        yield items.Message("user", (items.Text(given),), at="input")
        return
    if not isinstance(given, list):
        raise fields.expected("input", "a text or a list of items")
    for path, item in fields.objects_in(body, "input"):
        yield _item(item, path)


def _item(item: Mapping[str, Any], path: str) -> items.Item:
    kind = item.get("type") or "message"
    read = _ITEMS.get(kind) if isinstance(kind, str) else None
    if read is None:
        raise fields.unsupported(f"{path}.type")
    return read(item, path)


def _message(item: Mapping[str, Any], path: str) -> items.Message:
    fields.refuse_others(item, {*_OF_EVERY_ITEM, "role", "content", "phase"}, path)
    role = fields.read_text(item, "role", path)
    if role not in _ROLES:
        raise fields.unsupported(fields.joined(path, "role"))
    return items.Message(role, _parts(item, "content", path), fields.read_optional_text(item, "phase", path), path)


def _call(item: Mapping[str, Any], path: str) -> items.FunctionCall:
    fields.refuse_others(item, {*_OF_EVERY_ITEM, "call_id", "name", "arguments"}, path)
    return items.FunctionCall(
        fields.read_text(item, "call_id", path),
        fields.read_text(item, "name", path),
        fields.read_text(item, "arguments", path),
    )


def _output(item: Mapping[str, Any], path: str) -> items.FunctionOutput:
    fields.refuse_others(item, {*_OF_EVERY_ITEM, "call_id", "output"}, path)
    return items.FunctionOutput(fields.read_text(item, "call_id", path), _parts(item, "output", path))


def _reasoning(item: Mapping[str, Any], path: str) -> items.Reasoning:
    fields.refuse_others(item, {*_OF_EVERY_ITEM, "summary", "content", "encrypted_content"}, path)
    texts = [fields.read_text(part, "text", at) for at, part in fields.objects_in(item, "content", path)]
    summaries = [fields.read_text(part, "text", at) for at, part in fields.objects_in(item, "summary", path)]
    return items.Reasoning(
        "".join(texts),
        tuple(summaries),
        fields.read_optional_text(item, "encrypted_content", path),
        fields.read_optional_text(item, "id", path),
    )


_ITEMS: Mapping[str, Callable[[Mapping[str, Any], str], items.Item]] = {
    "message": _message,
    "function_call": _call,
    "function_call_output": _output,
    "reasoning": _reasoning,
}


def _parts(item: Mapping[str, Any], name: str, path: str) -> tuple[items.Part, ...]:
    content = item.get(name)
    if isinstance(content, str):
        return (items.Text(content),) if content else ()
    if content is None:
        raise fields.expected(fields.joined(path, name), "a text or a list of parts")
    return tuple(_part(part, at) for at, part in fields.objects_in(item, name, path))


def _part(part: Mapping[str, Any], path: str) -> items.Part:
    match part.get("type"):
        case "input_text" | "text":
            fields.refuse_others(part, {"type", "text"}, path)
            return items.Text(fields.read_text(part, "text", path))
        case "output_text":
            fields.refuse_others(part, {"type", "text", "annotations", "logprobs"}, path)
            return items.Text(fields.read_text(part, "text", path))
        case "refusal":
            fields.refuse_others(part, {"type", "refusal"}, path)
            return items.Refusal(fields.read_text(part, "refusal", path))
        case "input_image":
            fields.refuse_others(part, {"type", "image_url", "detail"}, path)
            return items.Image(
                fields.read_text(part, "image_url", path), fields.read_optional_text(part, "detail", path), path
            )
        case "input_audio":
            fields.refuse_others(part, {"type", "input_audio"}, path)
            audio = fields.read_object(part, "input_audio", path)
            fields.refuse_others(audio, {"data", "format"}, f"{path}.input_audio")
            return items.Audio(fields.read_text(audio, "data", path), fields.read_text(audio, "format", path), path)
        case "input_file":
            fields.refuse_others(part, {"type", "file_data", "file_url", "filename"}, path)
            data, url, filename = (
                fields.read_optional_text(part, name, path) for name in ("file_data", "file_url", "filename")
            )
            return items.File(data, url, filename, path)
    raise fields.unsupported(f"{path}.type")
