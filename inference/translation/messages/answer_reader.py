"""Reads a message as an answer."""

from collections.abc import Iterator, Mapping
from typing import Any

import orjson

from inference.translation.answer import Answer, End, MalformedAnswer
from inference.translation.items import FunctionCall, Item, Message, Reasoning, Text
from inference.translation.messages.usage import read_usage

_ENDS = {"max_tokens": End.LIMIT, "model_context_window_exceeded": End.LIMIT, "refusal": End.FILTER}


def read_answer(body: Mapping[str, Any]) -> Answer:
    """Read a message. Raises MalformedAnswer for anything else."""
    content = body.get("content")
    if not isinstance(content, list):
        raise MalformedAnswer("no content")
    stop = body.get("stop_sequence")
    items = tuple(item for block in content for item in _items(block))
    usage = body.get("usage")
    tier = usage.get("service_tier") if isinstance(usage, Mapping) else None
    return Answer(items, read_end(body), read_usage(usage), tier, stop if isinstance(stop, str) else None)


def read_end(members: Mapping[str, Any]) -> End:
    """Read why a message ended. An unknown reason counts as the model's own end."""
    reason = members.get("stop_reason")
    return _ENDS.get(reason, End.DONE) if isinstance(reason, str) else End.DONE


def text_of(block: Mapping[str, Any], name: str) -> str:
    """Return a text. Raises MalformedAnswer if there is none."""
    text = block.get(name)
    if not isinstance(text, str):
        raise MalformedAnswer(f"{name} is not a string")
    return text


def _items(block: Any) -> Iterator[Item]:
    match block.get("type") if isinstance(block, Mapping) else None:
        case "text":
            yield Message("assistant", (Text(text_of(block, "text")),))
        case "thinking":
            yield Reasoning(text_of(block, "thinking"), signature=block.get("signature") or None)
        case "redacted_thinking":
            yield Reasoning(encrypted=text_of(block, "data"))
        case "tool_use":
            arguments = orjson.dumps(block.get("input") or {}).decode()
            yield FunctionCall(text_of(block, "id"), text_of(block, "name"), arguments)
        case _:
            raise MalformedAnswer("a block of an unknown type")
