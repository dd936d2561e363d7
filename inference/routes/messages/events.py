"""The vendor's events: how they are written, and those of a complete message."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

import orjson

from inference.translation.messages.usage import NOTHING_COUNTED

Event = Mapping[str, Any]

MESSAGE_STOP: Event = {"type": "message_stop"}

_TEXTS = {"text": ("text", "text_delta"), "thinking": ("thinking", "thinking_delta")}


def render(event: Event) -> bytes:
    """Write one event, with its name."""
    return b"event: %b\ndata: %b\n\n" % (event["type"].encode(), orjson.dumps(event))


def output_bytes(event: Event) -> int:
    """Return the UTF-8 bytes of output that a delta carries."""
    delta = event.get("delta")
    if not isinstance(delta, dict):
        return 0
    texts = (delta.get(name) for name in ("text", "thinking", "partial_json"))
    return sum(len(text.encode()) for text in texts if isinstance(text, str))


def events_of(
    message: Mapping[str, Any], pieces_of: Callable[[str], Iterable[str]] = lambda text: [text]
) -> Iterator[Event]:
    """Render a complete message as events; `pieces_of` splits its texts."""
    usage = message.get("usage") or dict(NOTHING_COUNTED)
    begun = {**message, "content": [], "stop_reason": None, "stop_sequence": None, "usage": usage}
    yield {"type": "message_start", "message": begun}
    for index, block in enumerate(message["content"]):
        yield from _of_block(block, index, pieces_of)
    ended = {"stop_reason": message.get("stop_reason"), "stop_sequence": message.get("stop_sequence")}
    yield {"type": "message_delta", "delta": ended, "usage": usage}
    yield MESSAGE_STOP


def _of_block(block: Mapping[str, Any], index: int, pieces_of: Callable[[str], Iterable[str]]) -> Iterator[Event]:
    kind, deltas, opened = block.get("type"), [], dict(block)
    if kind in _TEXTS:
        name, delta = _TEXTS[kind]
        deltas = [{"type": delta, name: piece} for piece in pieces_of(block.get(name) or "")]
        opened[name] = ""
        if kind == "thinking" and block.get("signature"):
            deltas.append({"type": "signature_delta", "signature": block["signature"]})
            opened["signature"] = ""
    elif kind == "tool_use":
        arguments = orjson.dumps(block.get("input") or {}).decode()
        deltas = [{"type": "input_json_delta", "partial_json": piece} for piece in pieces_of(arguments)]
        opened["input"] = {}
    yield {"type": "content_block_start", "index": index, "content_block": opened}
    yield from ({"type": "content_block_delta", "index": index, "delta": delta} for delta in deltas)
    yield {"type": "content_block_stop", "index": index}
