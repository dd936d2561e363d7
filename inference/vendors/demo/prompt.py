"""Reads a chat request's last message and counts its tokens."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import orjson

from gateway.core.contract.errors import InvalidRequest
from inference.vendors.demo.tokens import IMAGE_TOKENS, count_tokens


@dataclass(frozen=True, slots=True)
class Prompt:
    """The last message's text and role, and the number of tokens of the whole request."""

    last_text: str
    last_role: str
    tokens: int


def read_prompt(body: Mapping[str, Any]) -> Prompt:
    """Read a chat body. Raises InvalidRequest if it has no messages."""
    messages = body.get("messages")
    if not isinstance(messages, list) or not messages:
        raise InvalidRequest("messages must be a list with at least one message.", param="messages")
    last = messages[-1]
    text = " ".join(part for part in _parts(last) if part is not None)
    return Prompt(text, str(last.get("role", "user")), max(1, _count(messages, body.get("tools"))))


def _count(messages: list[Any], tools: Any) -> int:
    counted = sum(_count_part(part) for message in messages for part in _parts(message))
    calls = [message["tool_calls"] for message in messages if message.get("tool_calls")]
    return counted + sum(count_tokens(orjson.dumps(extra).decode()) for extra in (*calls, tools) if extra)


def _count_part(part: str | None) -> int:
    return IMAGE_TOKENS if part is None else count_tokens(part)


def _parts(message: Mapping[str, Any]) -> Iterator[str | None]:
    """Yield a message's texts, and None for each part that is not a text."""
    content = message.get("content")
    if isinstance(content, str):
        yield content
    for part in content if isinstance(content, list) else ():
        text = part if isinstance(part, str) else part.get("text")
        yield text if isinstance(text, str) else None
