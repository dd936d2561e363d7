"""Writes a chat completion."""

from typing import Any

from inference.translation.answer import Answer, End, Head, Usage, or_zero, stated, sum_of
from inference.translation.items import FunctionCall, Item, Message, Reasoning, Refusal, Text

_REASONS = {End.LIMIT: "length", End.FILTER: "content_filter"}


def write_answer(answer: Answer, head: Head) -> dict[str, Any]:
    """Write a completion with one choice. Calls get the gateway's ids."""
    message = _message(answer.items, head)
    choice = {
        "index": 0,
        "message": message,
        "logprobs": _logprobs(answer.items),
        "finish_reason": finish_reason(answer.end, has_calls="tool_calls" in message),
    }
    return {
        "id": head.id,
        "object": "chat.completion",
        "created": head.created,
        "model": head.model,
        "choices": [choice],
        "usage": write_usage(answer.usage),
        **stated(service_tier=answer.service_tier),
    }


def finish_reason(end: End, *, has_calls: bool) -> str:
    """Return the finish reason of a choice."""
    return _REASONS.get(end) or ("tool_calls" if has_calls else "stop")


def _message(items: tuple[Item, ...], head: Head) -> dict[str, Any]:
    parts = [part for item in items if isinstance(item, Message) for part in item.parts]
    thought = "\n\n".join(text for item in items if isinstance(item, Reasoning) for text in _thoughts(item))
    calls = [item for item in items if isinstance(item, FunctionCall)]
    message: dict[str, Any] = {
        "role": "assistant",
        "content": _joined([part.text for part in parts if isinstance(part, Text)]),
        "refusal": _joined([part.text for part in parts if isinstance(part, Refusal)]),
    }
    if thought:
        message["reasoning_content"] = thought
    if calls:
        message["tool_calls"] = [_call(call, head, index) for index, call in enumerate(calls)]
    return message


def _thoughts(item: Reasoning) -> tuple[str, ...]:
    return (item.text,) if item.text else item.summaries


def _joined(texts: list[str]) -> str | None:
    return "".join(texts) if texts else None


def _call(call: FunctionCall, head: Head, index: int) -> dict[str, Any]:
    function = {"name": call.name, "arguments": call.arguments}
    return {"id": head.call_id(index), "type": "function", "function": function}


def _logprobs(items: tuple[Item, ...]) -> dict[str, Any] | None:
    texts = [part for item in items if isinstance(item, Message) for part in item.parts if isinstance(part, Text)]
    if all(text.logprobs is None for text in texts):
        return None
    return {"content": [token for text in texts for token in text.logprobs or ()], "refusal": None}


def write_usage(usage: Usage | None) -> dict[str, Any] | None:
    """Write the counts; a missing one is omitted, or 0 if it is part of another."""
    if usage is None:
        return None
    totals = {
        "prompt_tokens": usage.input_tokens,
        "completion_tokens": usage.output_tokens,
        "total_tokens": sum_of(usage),
    }
    groups = {
        "prompt_tokens_details": {"cached_tokens": or_zero(usage.cached_tokens)}
        | stated(cache_write_tokens=usage.cache_write_tokens, audio_tokens=usage.input_audio_tokens)
        | dict(usage.of_input),
        "completion_tokens_details": {"reasoning_tokens": or_zero(usage.reasoning_tokens)}
        | stated(audio_tokens=usage.output_audio_tokens)
        | dict(usage.of_output),
    }
    return dict(usage.beside) | stated(**totals) | groups
