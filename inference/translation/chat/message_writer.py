"""Writes a conversation as the messages of a chat request."""

from collections.abc import Collection, Sequence
from typing import Any

from inference.translation import items
from inference.translation.conversation import Conversation
from inference.translation.fields import joined, unsupported

_USERS, _ASSISTANTS, _TEXT = (
    (items.Text, items.Image, items.Audio, items.File),
    (items.Text, items.Refusal),
    (items.Text,),
)


def write_messages(conversation: Conversation) -> list[dict[str, Any]]:
    """Write every item as a message or as a part of one. Raises InvalidRequest naming what a message cannot express.

    Consecutive reasoning, messages and calls of the assistant become one message: its calls must directly precede their
    outputs. Of earlier reasoning only the text can be expressed; encrypted forms and summaries are omitted, because
    this format never accepts them back.
    """
    messages: list[dict[str, Any]] = []
    if conversation.instructions is not None:
        messages.append({"role": "system", "content": conversation.instructions})
    for item in conversation.items:
        match item:
            case items.FunctionCall():
                _turn(messages, joins=True).setdefault("tool_calls", []).append(_call(item))
            case items.Reasoning():
                if item.text:
                    turn = _turn(messages)
                    turn["reasoning_content"] = turn.get("reasoning_content", "") + item.text
            case items.FunctionOutput():
                content = _content(item.parts, _TEXT)
                messages.append({"role": "tool", "tool_call_id": item.call_id, "content": content})
            case items.Message():
                _say(messages, item)
    return messages


def _say(messages: list[dict[str, Any]], message: items.Message) -> None:
    if message.phase is not None:
        raise unsupported(joined(message.at, "phase"))
    if message.role != "assistant":
        kinds = _USERS if message.role == "user" else _TEXT
        messages.append({"role": message.role, "content": _content(message.parts, kinds)})
        return
    turn = _turn(messages)
    content = _content(message.parts, _ASSISTANTS)
    if turn["content"] is not None:
        content = [*_listed(turn["content"]), *_listed(content)]
    turn["content"] = content


def _turn(messages: list[dict[str, Any]], *, joins: bool = False) -> dict[str, Any]:
    """Return the assistant's message being written; a new one if the last one is complete."""
    last = messages[-1] if messages else {}
    is_open = last.get("role") == "assistant" and (joins or last["content"] is None or "tool_calls" in last)
    if not is_open:
        messages.append({"role": "assistant", "content": None})
    return messages[-1]


def _call(call: items.FunctionCall) -> dict[str, Any]:
    function = {"name": call.name, "arguments": call.arguments}
    return {"id": call.call_id, "type": "function", "function": function}


def _content(parts: Sequence[items.Part], kinds: Collection[type[items.Part]]) -> str | list[dict[str, Any]]:
    for part in parts:
        if type(part) not in kinds:
            raise unsupported(getattr(part, "at", "") or "input")
    if all(isinstance(part, items.Text) for part in parts) and len(parts) < 2:
        return "".join(part.text for part in parts if isinstance(part, items.Text))
    return [_part(part) for part in parts]


def _listed(content: str | list[dict[str, Any]]) -> list[dict[str, Any]]:
    return [{"type": "text", "text": content}] if isinstance(content, str) else content


def _part(part: items.Part) -> dict[str, Any]:
    match part:
        case items.Text(text=text):
            return {"type": "text", "text": text}
        case items.Refusal(text=text):
            return {"type": "refusal", "refusal": text}
        case items.Image(url=url, detail=detail):
            return {"type": "image_url", "image_url": {"url": url} | ({"detail": detail} if detail else {})}
        case items.Audio(data=data, format=form):
            return {"type": "input_audio", "input_audio": {"data": data, "format": form}}
        case items.File():
            return {"type": "file", "file": _file(part)}


def _file(file: items.File) -> dict[str, Any]:
    if file.data is None:
        raise unsupported(joined(file.at, "file_url"))
    return {"file_data": file.data} | ({"filename": file.filename} if file.filename is not None else {})
