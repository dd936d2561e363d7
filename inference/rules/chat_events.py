"""Renders a whole chat completion as an event stream, for an upstream that answered in one piece."""

from collections.abc import Mapping
from typing import Any

import orjson


def chat_events(body: Mapping[str, Any], *, show_usage: bool) -> bytes:
    """Make a chunk a choice, one that finishes it, the usage where it was asked for, and the terminator."""
    envelope = {
        "id": body.get("id"),
        "object": "chat.completion.chunk",
        "created": body.get("created", 0),
        "model": body.get("model"),
    }
    chunks = [[_choice(choice, _delta(choice), None) for choice in body["choices"]]]
    chunks.append([_choice(choice, {}, choice.get("finish_reason") or "stop") for choice in body["choices"]])
    events = [_event({**envelope, "choices": choices}) for choices in chunks]
    if show_usage:
        events.append(_event({**envelope, "choices": [], "usage": body.get("usage")}))
    return b"".join([*events, b"data: [DONE]\n\n"])


def _choice(choice: Mapping[str, Any], delta: Mapping[str, Any], finish_reason: Any) -> dict[str, Any]:
    return {
        "index": choice.get("index", 0),
        "delta": delta,
        "logprobs": choice.get("logprobs") if delta else None,
        "finish_reason": finish_reason,
    }


def _delta(choice: Mapping[str, Any]) -> dict[str, Any]:
    delta = dict(choice["message"])
    calls = delta.get("tool_calls")
    if isinstance(calls, list):  # in a stream, a call is known by its index
        delta["tool_calls"] = [{"index": index, **call} for index, call in enumerate(calls) if isinstance(call, dict)]
    return delta


def _event(chunk: Mapping[str, Any]) -> bytes:
    return b"data: " + orjson.dumps(chunk) + b"\n\n"
