"""Replaces the ids of audio answers, and estimates the audio tokens that a stream has delivered."""

from collections.abc import Mapping
from typing import Any

BASE64_CHARACTERS_PER_TOKEN = 3200
"""Streams carry 16-bit samples at 24 kHz, and the vendor counts a token per 50 ms of a model's audio: 2,400 bytes."""


def rename_audio(public_id: str, choice: Any, message: Mapping[str, Any]) -> None:
    """Replace the upstream's audio id by ours, in a message or a stream's delta."""
    audio = message.get("audio")
    if isinstance(audio, dict) and "id" in audio:
        index = choice if isinstance(choice, int) and 0 <= choice < 1000 else 0
        audio["id"] = f"audio_{public_id.rpartition('_')[2]}_{index}"


def tokens_of_audio(delta: Mapping[str, Any]) -> int:
    """Estimate the tokens of the audio in a delta."""
    audio = delta.get("audio")
    data = audio.get("data") if isinstance(audio, dict) else None
    return -(-len(data) // BASE64_CHARACTERS_PER_TOKEN) if isinstance(data, str) else 0


def transcript_of(delta: Mapping[str, Any]) -> str:
    """Return the transcript of the audio in a delta."""
    audio = delta.get("audio")
    text = audio.get("transcript") if isinstance(audio, dict) else None
    return text if isinstance(text, str) else ""
