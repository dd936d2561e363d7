"""Reads the messages of a chat request."""

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

_ROLES = ("system", "developer", "user")
_ASSISTANT = {"role", "content", "refusal", "tool_calls", "annotations", "reasoning_content", "reasoning"}
"""The members of an assistant's message; citations are facts about an answer that are not sent to a model again."""


def read_messages(body: Mapping[str, Any]) -> Iterator[Item]:
    """Read the messages as items. Raises InvalidRequest with the member at fault."""
    if not isinstance(body.get("messages"), list):
        raise expected("messages", "a list")
    for path, message in objects_in(body, "messages"):
        role = read_text(message, "role", path)
        if role == "assistant":
            yield from _assistant(message, path)
        elif role == "tool":
            refuse_others(message, {"role", "content", "tool_call_id"}, path)
            yield FunctionOutput(read_text(message, "tool_call_id", path), _parts(message, path))
        elif role in _ROLES:
            refuse_others(message, {"role", "content"}, path)
            yield Message(role, _parts(message, path), at=path)
        else:
            raise unsupported(joined(path, "role"))


def _assistant(message: Mapping[str, Any], path: str) -> Iterator[Item]:
    refuse_others(message, _ASSISTANT, path)
    thought = [read_optional_text(message, name, path) for name in ("reasoning_content", "reasoning")]
    if any(thought):
        yield Reasoning(thought[0] or thought[1] or "")
    parts = _parts(message, path)
    if refusal := read_optional_text(message, "refusal", path):
        parts += (Refusal(refusal),)
    calls = [_call(call, at) for at, call in objects_in(message, "tool_calls", path)]
    if parts or not calls:
        yield Message("assistant", parts, at=path)
    yield from calls


def _call(call: Mapping[str, Any], path: str) -> FunctionCall:
    if call.get("type") not in (None, "function"):
        raise unsupported(f"{path}.type")
    refuse_others(call, {"id", "type", "function", "index"}, path)
    function = read_object(call, "function", path)
    refuse_others(function, {"name", "arguments"}, f"{path}.function")
    return FunctionCall(
        read_text(call, "id", path),
        read_text(function, "name", f"{path}.function"),
        read_text(function, "arguments", f"{path}.function"),
    )


def _parts(message: Mapping[str, Any], path: str) -> tuple[Part, ...]:
    content = message.get("content")
    if content is None or isinstance(content, str):
        return (Text(content),) if content else ()
    return tuple(_part(part, at) for at, part in objects_in(message, "content", path))


def _part(part: Mapping[str, Any], path: str) -> Part:
    kind = part.get("type")
    match kind:
        case "text":
            refuse_others(part, {"type", "text"}, path)
            return Text(read_text(part, "text", path))
        case "refusal":
            refuse_others(part, {"type", "refusal"}, path)
            return Refusal(read_text(part, "refusal", path))
        case "image_url" | "input_audio" | "file":
            refuse_others(part, {"type", kind}, path)
            return _PARTS[kind](read_object(part, kind, path), path, f"{path}.{kind}")
    raise unsupported(f"{path}.type")


def _image(image: Mapping[str, Any], at: str, path: str) -> Image:
    refuse_others(image, {"url", "detail"}, path)
    return Image(read_text(image, "url", path), read_optional_text(image, "detail", path), at)


def _audio(audio: Mapping[str, Any], at: str, path: str) -> Audio:
    refuse_others(audio, {"data", "format"}, path)
    return Audio(read_text(audio, "data", path), read_text(audio, "format", path), at)


def _file(file: Mapping[str, Any], at: str, path: str) -> File:
    refuse_others(file, {"file_data", "filename"}, path)
    return File(data=read_text(file, "file_data", path), filename=read_optional_text(file, "filename", path), at=at)


_PARTS: Mapping[str, Callable[[Mapping[str, Any], str, str], Part]] = {
    "image_url": _image,
    "input_audio": _audio,
    "file": _file,
}
