"""The token rule of the fake upstream: simple, exact, and easy to predict in a test.

Prompt: one token for every four UTF-8 bytes of text, rounded up, at least one; every image part adds IMAGE_TOKENS. Text
is each message's content, tool call arguments, and the compact JSON of the tool definitions, as real vendors bill them.
Completion: one token for every word that was produced, or really sent when streaming.
"""

from collections.abc import Iterator, Mapping
from typing import Any

import orjson

BYTES_PER_TOKEN = 4
IMAGE_TOKENS = 85


def count_text(text: str) -> int:
    """Count the tokens of one separate text; at least one."""
    return max(1, -(-len(text.encode()) // BYTES_PER_TOKEN))


def count_prompt(body: Mapping[str, Any]) -> int:
    """Count the prompt tokens of a chat or responses body."""
    pieces = list(_pieces(body))
    text_bytes = sum(len(piece.encode()) for piece in pieces if piece is not None)
    images = sum(1 for piece in pieces if piece is None)
    return max(1, -(-text_bytes // BYTES_PER_TOKEN)) + images * IMAGE_TOKENS


def _pieces(body: Mapping[str, Any]) -> Iterator[str | None]:
    """Yield every text of a request, and None for every image."""
    if instructions := body.get("instructions"):
        yield str(instructions)
    yield from _content(body.get("system"))
    if tools := body.get("tools"):
        yield orjson.dumps(tools).decode()
    items = body.get("messages", body.get("input", []))
    for item in [items] if isinstance(items, str) else items:
        yield from _item(item)


def _item(item: Any) -> Iterator[str | None]:
    if isinstance(item, str):
        yield item
    if not isinstance(item, Mapping):
        return
    yield from _content(item.get("content"))
    yield from _arguments(item.get("tool_calls"))
    for member in ("arguments", "output"):
        if isinstance(item.get(member), str):
            yield item[member]


def _content(content: Any) -> Iterator[str | None]:
    """Yield the texts of a message, and None for other parts; invalid content counts as nothing."""
    if isinstance(content, str):
        yield content
    for part in content if isinstance(content, list) else []:
        if isinstance(part, Mapping):
            text = part.get("text")
            yield text if isinstance(text, str) else None


def _arguments(calls: Any) -> Iterator[str]:
    for call in calls if isinstance(calls, list) else []:
        function = call.get("function") if isinstance(call, Mapping) else None
        if isinstance(function, Mapping) and isinstance(function.get("arguments"), str):
            yield function["arguments"]
