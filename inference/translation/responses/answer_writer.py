"""Writes a response object."""

from collections.abc import Mapping
from typing import Any

from inference.translation.answer import Answer, End, Head, Usage, or_zero, stated, sum_of
from inference.translation.items import FunctionCall, Item, Message, Reasoning
from inference.translation.responses import parts

_REASONS = {End.LIMIT: "max_output_tokens", End.FILTER: "content_filter"}


def write_answer(answer: Answer, head: Head, echo: Mapping[str, Any]) -> dict[str, Any]:
    """Write a finished response. Items get the gateway's ids.

    `echo` has the members that repeat the request's, or its defaults.
    """
    return write_response(head, echo, _output(answer, head), answer.end, answer.usage, answer.service_tier)


def write_response(
    head: Head,
    echo: Mapping[str, Any],
    output: list[dict[str, Any]],
    end: End | None,
    usage: Usage | None,
    service_tier: Any = None,
) -> dict[str, Any]:
    """Write a response object; `end` is None while it is in progress, `service_tier` until the upstream reported it."""
    reason = _REASONS.get(end) if end else None
    return {
        **echo,
        "id": head.id,
        "object": "response",
        "created_at": head.created,
        "status": status_of(end),
        "error": None,
        "incomplete_details": {"reason": reason} if reason else None,
        "model": head.model,
        "output": output,
        "usage": write_usage(usage),
        **stated(service_tier=service_tier),
    }


def status_of(end: End | None) -> str:
    """Return the status of a response, or of its last item."""
    if end is None:
        return "in_progress"
    return "incomplete" if end in _REASONS else "completed"


def _output(answer: Answer, head: Head) -> list[dict[str, Any]]:
    output, calls, last = list[dict[str, Any]](), 0, len(answer.items) - 1
    for index, item in enumerate(answer.items):
        status = status_of(answer.end if index == last else End.DONE)
        output.append(_item(item, head, index, calls, status))
        calls += isinstance(item, FunctionCall)
    return output


def _item(item: Item, head: Head, index: int, call_index: int, status: str) -> dict[str, Any]:
    match item:
        case Message():
            return parts.message(head, index, status, [parts.part(part) for part in item.parts])
        case FunctionCall():
            return parts.call(head, index, status, head.call_id(call_index), item.name, item.arguments)
        case Reasoning():
            return parts.reasoning(head, index, status, item)
    raise TypeError(f"an answer holds no {type(item).__name__}")


def write_usage(usage: Usage | None) -> dict[str, Any] | None:
    """Write the counts; a missing one is omitted, or 0 if it is part of another."""
    if usage is None:
        return None
    totals = {
        "input_tokens": usage.input_tokens,
        "output_tokens": usage.output_tokens,
        "total_tokens": sum_of(usage),
    }
    groups = {
        "input_tokens_details": {"cached_tokens": or_zero(usage.cached_tokens)}
        | stated(cache_write_tokens=usage.cache_write_tokens)
        | dict(usage.of_input),
        "output_tokens_details": {"reasoning_tokens": or_zero(usage.reasoning_tokens)} | dict(usage.of_output),
    }
    return dict(usage.beside) | stated(**totals) | groups
