"""Reads a response object."""

from collections.abc import Mapping
from typing import Any

from inference.translation.answer import (
    Answer,
    End,
    MalformedAnswer,
    Usage,
    object_of,
    others_of,
    part_of,
)
from inference.translation.items import FunctionCall, Item, Message, Part, Reasoning, Refusal, Text

_ENDS = {"content_filter": End.FILTER}
_COUNTED = frozenset(
    {
        *("input_tokens", "output_tokens", "total_tokens"),
        *("cached_tokens", "cache_write_tokens", "reasoning_tokens"),
    }
)
"""The counters of a usage that are read by name."""


def read_answer(body: Mapping[str, Any]) -> Answer:
    """Read a finished response. Raises MalformedAnswer for anything else."""
    output = body.get("output")
    if not isinstance(output, list) or body.get("status") not in ("completed", "incomplete"):
        raise MalformedAnswer("no response that came to its end")
    items = tuple(_item(item) for item in output)
    return Answer(items, read_end(body), read_usage(body.get("usage")), body.get("service_tier"))


def read_end(body: Mapping[str, Any]) -> End:
    """Read why a response ended. An incomplete one with an unknown reason counts as having reached its limit."""
    if body.get("status") != "incomplete":
        return End.DONE
    details = body.get("incomplete_details")
    reason = details.get("reason") if isinstance(details, Mapping) else None
    return _ENDS.get(reason, End.LIMIT) if isinstance(reason, str) else End.LIMIT


def _item(item: Any) -> Item:
    match item:
        case {"type": "message", "content": list(content)}:
            return Message("assistant", tuple(_part(part) for part in content))
        case {"type": "function_call", "name": str(name), "arguments": str(arguments)}:
            return FunctionCall(str(item.get("call_id") or ""), name, arguments)
        case {"type": "reasoning"}:
            return _reasoning(item)
    raise MalformedAnswer("an output item of an unrequested type")


def _part(part: Any) -> Part:
    match part:
        case {"type": "output_text", "text": str(text)}:
            logprobs = part.get("logprobs")
            return Text(text, logprobs if isinstance(logprobs, list) and logprobs else None)
        case {"type": "refusal", "refusal": str(refusal)}:
            return Refusal(refusal)
    raise MalformedAnswer("a part that is not text")


def _reasoning(item: Mapping[str, Any]) -> Reasoning:
    sealed = item.get("encrypted_content")
    texts, summaries = _texts(item.get("content")), _texts(item.get("summary"))
    return Reasoning("".join(texts), tuple(summaries), sealed if isinstance(sealed, str) else None)


def _texts(parts: Any) -> list[str]:
    if not (parts is None or isinstance(parts, list)):
        raise MalformedAnswer("reasoning that is not a list of parts")
    texts = [part.get("text") if isinstance(part, Mapping) else None for part in parts or ()]
    if not all(isinstance(text, str) for text in texts):
        raise MalformedAnswer("a part of reasoning that is not text")
    return [text for text in texts if isinstance(text, str)]


def read_usage(sent: Any) -> Usage | None:
    """Read the counts, unchecked. Raises MalformedAnswer if it is not an object."""
    usage = object_of(sent)
    if usage is None:
        return None
    return Usage(
        input_tokens=usage.get("input_tokens"),
        output_tokens=usage.get("output_tokens"),
        total_tokens=usage.get("total_tokens"),
        cached_tokens=part_of(usage, "input_tokens_details", "cached_tokens"),
        cache_write_tokens=part_of(usage, "input_tokens_details", "cache_write_tokens"),
        reasoning_tokens=part_of(usage, "output_tokens_details", "reasoning_tokens"),
        others=others_of(usage, ("input_tokens", "output_tokens"), _COUNTED),
    )
