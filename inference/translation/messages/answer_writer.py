"""Writes an answer as a message."""

from collections.abc import Iterator
from typing import Any

from inference.translation.answer import Answer, End, Head
from inference.translation.items import FunctionCall, Item, Message, Reasoning, Refusal, Text
from inference.translation.messages.block_writer import read_arguments
from inference.translation.messages.usage import write_usage

_REASONS = {End.LIMIT: "max_tokens", End.FILTER: "refusal"}


def write_answer(answer: Answer, head: Head) -> dict[str, Any]:
    """Write a message. Calls get the gateway's ids."""
    has_calls = any(isinstance(item, FunctionCall) for item in answer.items)
    return {
        "id": head.id,
        "type": "message",
        "role": "assistant",
        "model": head.model,
        "content": list(_blocks(answer.items, head)),
        "stop_reason": stop_reason(answer.end, has_calls=has_calls, stop=answer.stop),
        "stop_sequence": answer.stop,
        "usage": _with_tier(write_usage(answer.usage), answer.service_tier),
    }


def stop_reason(end: End, *, has_calls: bool, stop: str | None = None) -> str:
    """Return the reason why a message ended."""
    return _REASONS.get(end) or ("tool_use" if has_calls else "end_turn" if stop is None else "stop_sequence")


def call_id(head: Head, index: int) -> str:
    """Return the id of the answer's call with this index, from 0."""
    return f"toolu_{head.unique}_{index}"


def _with_tier(usage: dict[str, Any] | None, service_tier: Any) -> dict[str, Any] | None:
    if usage is None or service_tier is None:
        return usage
    return {**usage, "service_tier": "standard" if service_tier == "default" else service_tier}


def _blocks(items: tuple[Item, ...], head: Head) -> Iterator[dict[str, Any]]:
    called = 0
    for item in items:
        match item:
            case Message(parts=parts):
                texts = [part.text for part in parts if isinstance(part, Text | Refusal)]
                yield from ({"type": "text", "text": text} for text in texts)
            case FunctionCall(name=name, arguments=arguments):
                yield {
                    "type": "tool_use",
                    "id": call_id(head, called),
                    "name": name,
                    "input": read_arguments(arguments),
                }
                called += 1
            case Reasoning():
                yield from _thinking(item)


def _thinking(item: Reasoning) -> Iterator[dict[str, Any]]:
    """Write reasoning. Without its provider's signature it has an empty one, with which it is never sent to a provider."""
    for text in (item.text,) if item.text else item.summaries:
        yield {"type": "thinking", "thinking": text, "signature": item.signature or ""}
    if item.encrypted is not None and item.id is None and not item.text:
        yield {"type": "redacted_thinking", "data": item.encrypted}
