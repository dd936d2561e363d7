"""Reads a chat completion."""

from collections.abc import Iterator, Mapping
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

_ENDS = {"length": End.LIMIT, "content_filter": End.FILTER}
_COUNTED = frozenset(
    {
        *("prompt_tokens", "completion_tokens", "total_tokens"),
        *("cached_tokens", "cache_write_tokens", "reasoning_tokens", "audio_tokens"),
        *("accepted_prediction_tokens", "rejected_prediction_tokens"),
    }
)
"""The counters of a usage that are read by name, and those of a request that is not translated."""


def read_answer(body: Mapping[str, Any]) -> Answer:
    """Read a completion with one choice. Raises MalformedAnswer for anything else."""
    choices = body.get("choices")
    if not isinstance(choices, list) or len(choices) != 1 or not isinstance(choices[0], Mapping):
        raise MalformedAnswer("not one choice")
    message = choices[0].get("message")
    if not isinstance(message, Mapping):
        raise MalformedAnswer("a choice without a message")
    items = tuple(_items(message, read_logprobs(choices[0])))
    return Answer(items, read_end(choices[0]), read_usage(body.get("usage")), body.get("service_tier"))


def read_end(choice: Mapping[str, Any]) -> End:
    """Read why a choice ended. An unknown reason counts as the model's own end."""
    reason = choice.get("finish_reason")
    return _ENDS.get(reason, End.DONE) if isinstance(reason, str) else End.DONE


def read_logprobs(choice: Mapping[str, Any]) -> list[Any] | None:
    """Return the log-probabilities of a choice's text, None if it has none."""
    logprobs = choice.get("logprobs")
    content = logprobs.get("content") if isinstance(logprobs, Mapping) else None
    return content if isinstance(content, list) else None


def read_reasoning(message: Mapping[str, Any]) -> str:
    """Return the reasoning of a message or a delta, under either of the names that providers use."""
    for name in ("reasoning_content", "reasoning"):
        if isinstance(text := message.get(name), str) and text:
            return text
    return ""


def text_of(members: Mapping[str, Any], name: str) -> str:
    """Return a text, empty if it is absent or null. Raises MalformedAnswer for another type."""
    text = members.get(name)
    if text is None:
        return ""
    if not isinstance(text, str):
        raise MalformedAnswer(f"{name} is not a string")
    return text


def _items(message: Mapping[str, Any], logprobs: list[Any] | None) -> Iterator[Item]:
    if thought := read_reasoning(message):
        yield Reasoning(thought)
    parts: list[Part] = []
    if content := text_of(message, "content"):
        parts.append(Text(content, logprobs))
    if refusal := text_of(message, "refusal"):
        parts.append(Refusal(refusal))
    if parts:
        yield Message("assistant", tuple(parts))
    calls = message.get("tool_calls")
    if not (calls is None or isinstance(calls, list)):
        raise MalformedAnswer("tool_calls is not a list")
    yield from map(_call, calls or ())


def _call(call: Any) -> FunctionCall:
    function = call.get("function") if isinstance(call, Mapping) else None
    if not isinstance(function, Mapping) or not isinstance(function.get("name"), str):
        raise MalformedAnswer("a tool call that calls no function")
    return FunctionCall(text_of(call, "id"), function["name"], text_of(function, "arguments"))


def read_usage(sent: Any) -> Usage | None:
    """Read the counts, unchecked. Raises MalformedAnswer if it is not an object."""
    usage = object_of(sent)
    if usage is None:
        return None
    return Usage(
        input_tokens=usage.get("prompt_tokens"),
        output_tokens=usage.get("completion_tokens"),
        total_tokens=usage.get("total_tokens"),
        cached_tokens=part_of(usage, "prompt_tokens_details", "cached_tokens"),
        cache_write_tokens=part_of(usage, "prompt_tokens_details", "cache_write_tokens"),
        input_audio_tokens=part_of(usage, "prompt_tokens_details", "audio_tokens"),
        reasoning_tokens=part_of(usage, "completion_tokens_details", "reasoning_tokens"),
        output_audio_tokens=part_of(usage, "completion_tokens_details", "audio_tokens"),
        others=others_of(usage, ("prompt_tokens", "completion_tokens"), _COUNTED),
    )
