"""What the stand answers in the shape of the Messages API."""

import json
from collections.abc import Iterator
from typing import Any

USAGE = {"input_tokens": 3, "output_tokens": 3}


def message_for(body: dict[str, Any]) -> dict[str, Any]:
    """Build the whole answer: a text, or a call of the first tool."""
    text = {"type": "text", "text": "one two three"}
    if tools := body.get("tools"):
        call = {"type": "tool_use", "id": "toolu_1", "name": tools[0]["name"], "input": {"city": "Bern"}}
        return {**_head("tool_use"), "content": [call], "usage": USAGE}
    return {**_head("end_turn"), "content": [text], "usage": USAGE}


def events() -> Iterator[bytes]:
    """Write the events of a text."""
    usage = {**USAGE, "output_tokens": 1}
    yield _event("message_start", message={**_head(None), "content": [], "usage": usage})
    yield _event("content_block_start", index=0, content_block={"type": "text", "text": ""})
    for word in ("one", " two", " three"):
        yield _event("content_block_delta", index=0, delta={"type": "text_delta", "text": word})
    yield _event("content_block_stop", index=0)
    yield _event("message_delta", delta={"stop_reason": "end_turn", "stop_sequence": None}, usage=USAGE)
    yield _event("message_stop")


def _event(kind: str, **members: Any) -> bytes:
    return f"event: {kind}\ndata: {json.dumps({'type': kind, **members})}\n\n".encode()


def _head(stop_reason: str | None) -> dict[str, Any]:
    head = {"id": "msg_1", "type": "message", "role": "assistant", "model": "fast"}
    return {**head, "stop_reason": stop_reason, "stop_sequence": None}
