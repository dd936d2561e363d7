"""The events with which the gateway itself ends a chat stream, whoever served it."""

import time
from typing import Any

import orjson

from gateway.contract.errors import ApiError
from inference.adapters.base import Attempt
from inference.adapters.sse import event_bytes

TERMINATOR = event_bytes(b"[DONE]")
_CHOICES_MAX = 128


def error_event(error: ApiError, request_id: str) -> bytes:
    """Render an error as the vendor's SDKs look for it in a stream."""
    return event_bytes(orjson.dumps(error.body(request_id)))


def cut_event(attempt: Attempt) -> bytes:
    """Render the chunk with which a stream ends at its output limit, for every choice that was asked for."""
    choices = [{"index": index, "delta": {}, "finish_reason": "length"} for index in range(choices_asked(attempt))]
    return event_bytes(orjson.dumps({**envelope(attempt), "choices": choices}))


def envelope(attempt: Attempt) -> dict[str, Any]:
    """Give the members that every chunk of a stream begins with."""
    return {
        "id": attempt.public_id,
        "object": "chat.completion.chunk",
        "created": int(time.time()),
        "model": attempt.public_model,
    }


def choices_asked(attempt: Attempt) -> int:
    """Read how many answers were asked for (`n`)."""
    count = attempt.body.get("n")
    return count if isinstance(count, int) and 1 <= count <= _CHOICES_MAX else 1
