"""Reads the messages of a Messages request."""

from collections.abc import Callable, Iterator, Mapping
from typing import Any

import orjson

from inference.translation import fields, items

MARKS = frozenset({"cache_control", "caller", "toolset_name", "transformations"})
"""Members of blocks that do not change what a model of another provider reads: where its prompt cache ends, and who called."""


def read_messages(body: Mapping[str, Any]) -> Iterator[items.Item]:
    """Read the messages as items. Raises InvalidRequest with the member at fault."""
    if not isinstance(body.get("messages"), list):
        raise fields.expected("messages", "a list")
    for path, message in fields.objects_in(body, "messages"):
        fields.refuse_others(message, {"role", "content"}, path)
        role = fields.read_text(message, "role", path)
        if role not in _READERS:
            raise fields.unsupported(fields.joined(path, "role"))
        yield from _grouped(role, message, path)


def read_texts(members: Mapping[str, Any], name: str, path: str = "") -> tuple[str, ...]:
    """Read a text, or a list of text blocks. Raises InvalidRequest with the member at fault."""
    value = members.get(name)
    if value is None or isinstance(value, str):
        return (value,) if value else ()
    return tuple(_text(block, at) for at, block in fields.objects_in(members, name, path))


def _grouped(role: str, message: Mapping[str, Any], path: str) -> Iterator[items.Item]:
    """Yield the items of a message; consecutive parts become one item."""
    content = message.get("content")
    if isinstance(content, str):
        yield items.Message(role, (items.Text(content),) if content else (), at=path)
        return
    if not isinstance(content, list):
        raise fields.expected(fields.joined(path, "content"), "a text or a list of blocks")
    parts: list[items.Part] = []
    for at, block in fields.objects_in(message, "content", path):
        read = _READERS[role](block, at)
        if isinstance(read, items.Part):
            parts.append(read)
            continue
        if parts:
            yield items.Message(role, tuple(parts), at=path)
            parts = []
        yield read
    if parts or not content:
        yield items.Message(role, tuple(parts), at=path)


def _of_user(block: Mapping[str, Any], path: str) -> items.Part | items.Item:
    if block.get("type") != "tool_result":
        return _part(block, path)
    fields.refuse_others(block, {"type", "tool_use_id", "content", "is_error", *MARKS}, path)
    return items.FunctionOutput(
        fields.read_text(block, "tool_use_id", path),
        _outputs(block, path),
        fields.read_optional_flag(block, "is_error", path) or False,
    )


def _outputs(block: Mapping[str, Any], path: str) -> tuple[items.Part, ...]:
    content = block.get("content")
    if content is None or isinstance(content, str):
        return (items.Text(content),) if content else ()
    return tuple(_part(part, at) for at, part in fields.objects_in(block, "content", path))


def _of_assistant(block: Mapping[str, Any], path: str) -> items.Part | items.Item:
    match block.get("type"):
        case "text":
            return items.Text(_text(block, path))
        case "thinking":
            fields.refuse_others(block, {"type", "thinking", "signature"}, path)
            signature = fields.read_optional_text(block, "signature", path)
            return items.Reasoning(fields.read_text(block, "thinking", path), signature=signature or None)
        case "redacted_thinking":
            fields.refuse_others(block, {"type", "data"}, path)
            return items.Reasoning(encrypted=fields.read_text(block, "data", path))
        case "tool_use":
            return _call(block, path)
    raise fields.unsupported(fields.joined(path, "type"))


def _call(block: Mapping[str, Any], path: str) -> items.FunctionCall:
    fields.refuse_others(block, {"type", "id", "name", "input", *MARKS}, path)
    arguments = orjson.dumps(fields.read_object(block, "input", path)).decode()
    return items.FunctionCall(fields.read_text(block, "id", path), fields.read_text(block, "name", path), arguments)


def _part(block: Mapping[str, Any], path: str) -> items.Part:
    match block.get("type"):
        case "text":
            return items.Text(_text(block, path))
        case "image":
            fields.refuse_others(block, {"type", "source", *MARKS}, path)
            return items.Image(_address(block, path), at=path)
        case "document":
            return _document(block, path)
    raise fields.unsupported(fields.joined(path, "type"))


def _text(block: Mapping[str, Any], path: str) -> str:
    if block.get("type") != "text":
        raise fields.unsupported(fields.joined(path, "type"))
    fields.refuse_others(block, {"type", "text", "citations", *MARKS}, path)
    return fields.read_text(block, "text", path)


def _document(block: Mapping[str, Any], path: str) -> items.Part:
    fields.refuse_others(block, {"type", "source", "title", *MARKS}, path)
    title = fields.read_optional_text(block, "title", path)
    source = fields.read_object(block, "source", path)
    at = fields.joined(path, "source")
    kind = source.get("type")
    if kind in ("text", "content"):
        named = "data" if kind == "text" else "content"
        fields.refuse_others(source, {"type", "media_type", named}, at)
        data = fields.read_text(source, named, at)
        return items.Text(f"{title}\n\n{data}" if title else data)
    address = _address(block, path)
    if address.startswith("data:"):
        return items.File(data=address, filename=title or "document.pdf", at=path)
    return items.File(url=address, filename=title, at=path)


def _address(block: Mapping[str, Any], path: str) -> str:
    """Return the source of an image or a document as an address or a data URL."""
    source, at = fields.read_object(block, "source", path), fields.joined(path, "source")
    match source.get("type"):
        case "base64":
            fields.refuse_others(source, {"type", "media_type", "data"}, at)
            return f"data:{fields.read_text(source, 'media_type', at)};base64,{fields.read_text(source, 'data', at)}"
        case "url":
            fields.refuse_others(source, {"type", "url"}, at)
            return fields.read_text(source, "url", at)
    raise fields.unsupported(fields.joined(at, "type"))


_READERS: Mapping[str, Callable[[Mapping[str, Any], str], items.Part | items.Item]] = {
    "user": _of_user,
    "assistant": _of_assistant,
    "system": lambda block, path: items.Text(_text(block, path)),
}
"""What reads a block of each role."""
