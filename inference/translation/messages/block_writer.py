"""Writes a conversation as the messages of a Messages request."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import orjson

from inference.translation import items
from inference.translation.fields import expected, joined, unsupported

_BASE64 = ";base64,"


def write_messages(conversation: Iterable[items.Item]) -> list[dict[str, Any]]:
    """Write items as messages; consecutive ones of a role become one. Raises InvalidRequest naming what a message cannot
    express.

    Earlier reasoning is written only if the provider signed it, because it refuses any other.
    """
    messages: list[dict[str, Any]] = []
    for item in conversation:
        role, blocks = _blocks(item)
        if not blocks:
            continue
        if not messages or messages[-1]["role"] != role:
            messages.append({"role": role, "content": []})
        messages[-1]["content"] += blocks
    return [{**message, "content": _short(message["content"])} for message in messages]


def _blocks(item: items.Item) -> tuple[str, list[dict[str, Any]]]:
    match item:
        case items.FunctionCall():
            called = {"id": item.call_id, "name": item.name, "input": read_arguments(item.arguments)}
            return "assistant", [{"type": "tool_use", **called}]
        case items.FunctionOutput():
            error = {"is_error": True} if item.is_error else {}
            content = _short(_parts(item.parts))
            return "user", [{"type": "tool_result", "tool_use_id": item.call_id, "content": content, **error}]
        case items.Reasoning():
            return "assistant", _reasoning(item)
        case items.Message():
            if item.role not in ("user", "assistant"):
                raise unsupported(joined(item.at, "role"))
            if item.phase is not None:
                raise unsupported(joined(item.at, "phase"))
            return item.role, _parts(item.parts)


def _reasoning(item: items.Reasoning) -> list[dict[str, Any]]:
    if item.signature is not None:
        return [{"type": "thinking", "thinking": item.text, "signature": item.signature}]
    if item.encrypted is not None and item.id is None:
        return [{"type": "redacted_thinking", "data": item.encrypted}]
    return []


def read_arguments(arguments: str) -> Mapping[str, Any]:
    """Read a call's arguments as the object that this format needs. What is not an object becomes the member `arguments`."""
    try:
        read = orjson.loads(arguments) if arguments.strip() else {}
    except ValueError:
        read = None
    return read if isinstance(read, dict) else {"arguments": arguments}


def _short(blocks: Sequence[Mapping[str, Any]]) -> Any:
    """Return a single text as text, and anything else as blocks."""
    return blocks[0]["text"] if len(blocks) == 1 and blocks[0]["type"] == "text" else list(blocks)


def _parts(parts: Iterable[items.Part]) -> list[dict[str, Any]]:
    """Write parts, but no empty text: the vendor refuses a block of it, and it says nothing."""
    return [_part(part) for part in parts if not (isinstance(part, items.Text | items.Refusal) and not part.text)]


def _part(part: items.Part) -> dict[str, Any]:
    match part:
        case items.Text(text=text) | items.Refusal(text=text):
            return {"type": "text", "text": text}
        case items.Image(url=url, at=at):
            return {"type": "image", "source": _source(url, at)}
        case items.Audio(at=at):
            raise unsupported(at or "input_audio")
        case items.File(data=data, url=url, filename=filename, at=at):
            named = {} if filename is None else {"title": filename}
            return {"type": "document", "source": _source(data or url or "", at), **named}


def _source(address: str, at: str) -> dict[str, Any]:
    if not address.startswith("data:"):
        return {"type": "url", "url": address}
    media_type, is_base64, data = address.removeprefix("data:").partition(_BASE64)
    if not is_base64:
        raise expected(at, "a base64 data URL")
    return {"type": "base64", "media_type": media_type, "data": data}
