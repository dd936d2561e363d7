"""Reads the messages of a chat request."""

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from inference.translation import fields, items

_ROLES = ("system", "developer", "user")
_ASSISTANT = {"role", "content", "refusal", "tool_calls", "annotations", "reasoning_content", "reasoning"}
"""The members of an assistant's message; citations are facts about an answer that are not sent to a model again."""


def read_messages(body: Mapping[str, Any]) -> Iterator[items.Item]:
    """Read the messages as items. Raises InvalidRequest with the member at fault."""
    if not isinstance(body.get("messages"), list):
        raise fields.expected("messages", "a list")
    for path, message in fields.objects_in(body, "messages"):
        role = fields.read_text(message, "role", path)
        if role == "assistant":
            yield from _assistant(message, path)
        elif role == "tool":
            fields.refuse_others(message, {"role", "content", "tool_call_id"}, path)
            yield items.FunctionOutput(fields.read_text(message, "tool_call_id", path), _parts(message, path))
        elif role in _ROLES:
            fields.refuse_others(message, {"role", "content"}, path)
            yield items.Message(role, _parts(message, path), at=path)
        else:
            raise fields.unsupported(fields.joined(path, "role"))


def _assistant(message: Mapping[str, Any], path: str) -> Iterator[items.Item]:
    fields.refuse_others(message, _ASSISTANT, path)
    thought = [fields.read_optional_text(message, name, path) for name in ("reasoning_content", "reasoning")]
    if any(thought):
        yield items.Reasoning(thought[0] or thought[1] or "")
    parts = _parts(message, path)
    if refusal := fields.read_optional_text(message, "refusal", path):
        parts += (items.Refusal(refusal),)
    calls = [_call(call, at) for at, call in fields.objects_in(message, "tool_calls", path)]
    if parts or not calls:
        yield items.Message("assistant", parts, at=path)
    yield from calls


def _call(call: Mapping[str, Any], path: str) -> items.FunctionCall:
    if call.get("type") not in (None, "function"):
        raise fields.unsupported(f"{path}.type")
    fields.refuse_others(call, {"id", "type", "function", "index"}, path)
    function = fields.read_object(call, "function", path)
    fields.refuse_others(function, {"name", "arguments"}, f"{path}.function")
    return items.FunctionCall(
        fields.read_text(call, "id", path),
        fields.read_text(function, "name", f"{path}.function"),
        fields.read_text(function, "arguments", f"{path}.function"),
    )


def _parts(message: Mapping[str, Any], path: str) -> tuple[items.Part, ...]:
    content = message.get("content")
    if content is None or isinstance(content, str):
        return (items.Text(content),) if content else ()
    return tuple(_part(part, at) for at, part in fields.objects_in(message, "content", path))


def _part(part: Mapping[str, Any], path: str) -> items.Part:
    kind = part.get("type")
    match kind:
        case "text":
            fields.refuse_others(part, {"type", "text"}, path)
            return items.Text(fields.read_text(part, "text", path))
        case "refusal":
            fields.refuse_others(part, {"type", "refusal"}, path)
            return items.Refusal(fields.read_text(part, "refusal", path))
        case "image_url" | "input_audio" | "file":
            fields.refuse_others(part, {"type", kind}, path)
            return _PARTS[kind](fields.read_object(part, kind, path), path, f"{path}.{kind}")
    raise fields.unsupported(f"{path}.type")


def _image(image: Mapping[str, Any], at: str, path: str) -> items.Image:
    fields.refuse_others(image, {"url", "detail"}, path)
    return items.Image(fields.read_text(image, "url", path), fields.read_optional_text(image, "detail", path), at)


def _audio(audio: Mapping[str, Any], at: str, path: str) -> items.Audio:
    fields.refuse_others(audio, {"data", "format"}, path)
    return items.Audio(fields.read_text(audio, "data", path), fields.read_text(audio, "format", path), at)


def _file(file: Mapping[str, Any], at: str, path: str) -> items.File:
    fields.refuse_others(file, {"file_data", "filename"}, path)
    return items.File(
        data=fields.read_text(file, "file_data", path),
        filename=fields.read_optional_text(file, "filename", path),
        at=at,
    )


_PARTS: Mapping[str, Callable[[Mapping[str, Any], str, str], items.Part]] = {
    "image_url": _image,
    "input_audio": _audio,
    "file": _file,
}
