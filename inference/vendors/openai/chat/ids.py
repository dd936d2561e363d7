"""Replaces the upstream's ids of tool calls and of audio by ours, consistently in all chunks of a call."""

from collections.abc import Mapping
from typing import Any

_UNIQUE_CHARACTERS = 26


def rename_calls(public_id: str, choice: Any, message: Mapping[str, Any]) -> None:
    """Rename the tool calls of a message or of a stream's delta, in place.

    A client returns the id with the tool's result, and upstreams accept at most 40 characters there.
    """
    calls = message.get("tool_calls")
    for position, call in enumerate(calls if isinstance(calls, list) else ()):
        if isinstance(call, dict) and call.get("id"):
            index = call.get("index", position)
            call["id"] = f"call_{public_id[-_UNIQUE_CHARACTERS:]}_{_number(choice)}_{_number(index)}"


def rename_audio(public_id: str, choice: Any, message: Mapping[str, Any]) -> None:
    """Replace the upstream's audio id by ours, in a message or a stream's delta."""
    audio = message.get("audio")
    if isinstance(audio, dict) and "id" in audio:
        audio["id"] = f"audio_{public_id.rpartition('_')[2]}_{_number(choice)}"


def _number(index: Any) -> int:
    return index if isinstance(index, int) and 0 <= index < 1000 else 0
