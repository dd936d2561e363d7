"""Writes items as the input of a responses request."""

from collections.abc import Iterable, Sequence
from typing import Any

from inference.translation.fields import unsupported
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


def write_input(items: Iterable[Item]) -> list[dict[str, Any]]:
    """Write items. Raises InvalidRequest naming what this format's input cannot express.

    Earlier reasoning is written as this format returned it, with its id; its plain text cannot be expressed and is
    omitted.
    """
    return [_item(item) for item in items if not (isinstance(item, Reasoning) and item.id is None)]


def _item(item: Item) -> dict[str, Any]:
    match item:
        case Message():
            content = _content(item.parts, is_output=item.role == "assistant")
            phase = {} if item.phase is None else {"phase": item.phase}
            return {"type": "message", "role": item.role, "content": content, **phase}
        case FunctionCall():
            called = {"call_id": item.call_id, "name": item.name, "arguments": item.arguments}
            return {"type": "function_call", **called}
        case FunctionOutput():
            output = _content(item.parts, is_output=False)
            return {"type": "function_call_output", "call_id": item.call_id, "output": output}
        case Reasoning():
            return _reasoning(item)


def _reasoning(item: Reasoning) -> dict[str, Any]:
    content = {"content": [{"type": "reasoning_text", "text": item.text}]} if item.text else {}
    sealed = {} if item.encrypted is None else {"encrypted_content": item.encrypted}
    summary = [{"type": "summary_text", "text": text} for text in item.summaries]
    return {"type": "reasoning", "id": item.id, "summary": summary, **content, **sealed}


def _content(parts: Sequence[Part], *, is_output: bool) -> str | list[dict[str, Any]]:
    if all(isinstance(part, Text) for part in parts) and len(parts) < 2:
        return "".join(part.text for part in parts if isinstance(part, Text))
    return [_part(part, is_output) for part in parts]


def _part(part: Part, is_output: bool) -> dict[str, Any]:
    match part:
        case Text(text=text):
            return {"type": "output_text", "text": text, "annotations": []} if is_output else _input_text(text)
        case Refusal(text=text):
            return {"type": "refusal", "refusal": text}
        case Image(url=url, detail=detail):
            return {"type": "input_image", "image_url": url, "detail": detail or "auto"}
        case Audio(at=at):
            raise unsupported(at or "input_audio")
        case File():
            named = {"file_data": part.data, "file_url": part.url, "filename": part.filename}
            return {"type": "input_file", **{name: value for name, value in named.items() if value is not None}}


def _input_text(text: str) -> dict[str, Any]:
    return {"type": "input_text", "text": text}
