"""The stream format of a chat: ends a stream early, or renders a complete response as events."""

import time
from collections.abc import Callable, Iterable, Mapping
from typing import Any

import orjson

from inference.adapters.sse import event_bytes
from inference.interface.request import StreamFormat

TERMINATOR = event_bytes(b"[DONE]")


class ChatFormat(StreamFormat):
    """Events of `chat.completion.chunk`, ended by `[DONE]`."""

    terminator = TERMINATOR

    def __init__(self, public_model: str, public_id: str, unfinished: Callable[[], Iterable[int]] = tuple) -> None:
        self._envelope = {
            "id": public_id,
            "object": "chat.completion.chunk",
            "created": int(time.time()),
            "model": public_model,
        }
        self._unfinished = unfinished

    def cut(self) -> bytes:
        """Render the chunk that ends a stream at its output limit, for every choice that has not ended."""
        choices = [{"index": index, "delta": {}, "finish_reason": "length"} for index in self._unfinished()]
        return self.event(choices) if choices else b""

    def event(self, choices: list[dict[str, Any]], **members: Any) -> bytes:
        """Render one chunk."""
        return event_bytes(orjson.dumps({**self._envelope, "choices": choices, **members}))


def whole_as_events(body: Mapping[str, Any], usage: Any, *, show_usage: bool) -> bytes:
    """Render a complete response: a chunk per choice, one that ends it, the usage if requested, the terminator."""
    envelope = {
        "id": body.get("id"),
        "object": "chat.completion.chunk",
        "created": body.get("created", 0),
        "model": body.get("model"),
    }
    chunks = [[_choice(choice, _delta(choice), None) for choice in body["choices"]]]
    chunks.append([_choice(choice, {}, choice.get("finish_reason") or "stop") for choice in body["choices"]])
    events = [event_bytes(orjson.dumps({**envelope, "choices": choices})) for choices in chunks]
    if show_usage:
        events.append(event_bytes(orjson.dumps({**envelope, "choices": [], "usage": usage})))
    return b"".join([*events, TERMINATOR])


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
    if isinstance(calls, list):  # in a stream, a call is identified by its index
        delta["tool_calls"] = [{"index": index, **call} for index, call in enumerate(calls) if isinstance(call, dict)]
    return delta
