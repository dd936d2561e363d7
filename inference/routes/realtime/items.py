"""Validates conversation items of clients, and bounds their tokens."""

from collections.abc import Mapping
from typing import Any

from gateway.core.contract.errors import InvalidRequest
from gateway.core.json.strict import dumps
from inference.routes.realtime.audio import bytes_of_base64, tokens_of

TYPES = frozenset({"message", "function_call", "function_call_output", "item_reference"})
ITEM_TOKENS = 64
"""The tokens of an item, or of the session's settings, beside its content."""

PARTS = frozenset({"input_text", "input_audio", "output_text", "output_audio", "text", "audio"})


def tokens_of_item(item: Any, kind: str, path: str) -> int:
    """Return the maximum tokens of an item, with audio in the format `kind`. Raises InvalidRequest."""
    if not isinstance(item, dict):
        raise InvalidRequest(f"{path} must be an object.", param=path)
    if item.get("type") not in TYPES:
        raise InvalidRequest("Items of this type are not supported.", param=f"{path}.type")
    content = item.get("content") or []
    if not isinstance(content, list):
        raise InvalidRequest("content must be a list.", param=f"{path}.content")
    audio = [_audio_of(part, f"{path}.content.{index}") for index, part in enumerate(content)]
    size_bytes = len(dumps(item)) - sum(map(len, audio))
    return size_bytes + sum(tokens_of(bytes_of_base64(len(one)), kind) for one in audio)


def tokens_of_settings(settings: Mapping[str, Any]) -> int:
    """Return the maximum tokens of a session's instructions and tools."""
    return len(dumps([settings.get(name) for name in ("instructions", "tools", "tool_choice")])) + ITEM_TOKENS


def _audio_of(part: Any, path: str) -> str:
    """Return a part's audio in base64, empty if it has none."""
    if not isinstance(part, dict) or part.get("type") not in PARTS:
        raise InvalidRequest("A content part must be text or audio.", param=f"{path}.type")
    audio = part.get("audio")
    if audio is not None and not isinstance(audio, str):
        raise InvalidRequest("audio must be base64.", param=f"{path}.audio")
    return audio or ""
