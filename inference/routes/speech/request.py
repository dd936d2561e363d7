"""Validates a request for speech."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from gateway.core.contract.errors import InvalidRequest
from inference.interface.model import ServedModel
from inference.routes.speech.members import SPEECH_MEMBERS
from inference.rules.json_body import JsonBody
from inference.rules.members import refuse_members

CHARACTERS_MAX = 4096
SPEED_MIN, SPEED_MAX = 0.25, 4.0
MEDIA_TYPES: Mapping[str, tuple[str, ...]] = {
    "mp3": ("audio/mpeg", "audio/mp3"),
    "opus": ("audio/opus", "audio/ogg"),
    "aac": ("audio/aac", "audio/x-aac"),
    "flac": ("audio/flac", "audio/x-flac"),
    "wav": ("audio/wav", "audio/x-wav", "audio/wave", "audio/vnd.wave"),
    "pcm": ("audio/pcm", "audio/l16"),
}
"""The accepted media types of a response by format; the first is the usual one."""
_VOICE = re.compile(r"[A-Za-z0-9][A-Za-z0-9 _.+()-]{0,63}")


@dataclass(frozen=True, slots=True)
class SpeechRequest:
    """A valid request: the number of charged characters, the format, and whether it is streamed as events."""

    body: Mapping[str, Any]
    is_large: bool
    characters: int
    audio_format: str
    as_events: bool


def read_request(sent: JsonBody, model: ServedModel) -> SpeechRequest:
    """Validate a request, or raise InvalidRequest naming the member at fault."""
    body = sent.members
    refuse_members(body, SPEECH_MEMBERS)
    text = _text(body, "input")
    if not text:
        raise InvalidRequest("input must be a text that is not empty.", param="input")
    _check_voice(body.get("voice"))
    _check_speed(body.get("speed"))
    characters = len(text) + len(_text(body, "instructions"))
    audio_format = _one_of(body, "response_format", MEDIA_TYPES, "mp3")
    as_events = _one_of(body, "stream_format", ("audio", "sse"), "audio") == "sse"
    return SpeechRequest(body, sent.is_large, characters, audio_format, as_events)


def _text(body: Mapping[str, Any], name: str) -> str:
    text = body.get(name)
    if text is None:
        return ""
    if not isinstance(text, str) or len(text) > CHARACTERS_MAX:
        raise InvalidRequest(f"{name} must be a text of at most {CHARACTERS_MAX} characters.", param=name)
    return text


def _one_of(body: Mapping[str, Any], name: str, known: Any, usual: str) -> str:
    value = body.get(name)
    if value is None:
        return usual
    if not isinstance(value, str) or value not in known:
        raise InvalidRequest(f"{name} must be {', '.join(known)}.", param=name)
    return value


def _check_voice(voice: Any) -> None:
    if isinstance(voice, Mapping):
        raise InvalidRequest("Custom voices are not supported here; voice must be a name.", param="voice.id")
    # A path or an address could name another customer's file at some upstreams.
    if not isinstance(voice, str) or not _VOICE.fullmatch(voice) or voice.startswith("voice_"):
        raise InvalidRequest("voice must be the name of a voice.", param="voice")


def _check_speed(speed: Any) -> None:
    if speed is None:
        return
    if isinstance(speed, bool) or not isinstance(speed, int | float) or not SPEED_MIN <= speed <= SPEED_MAX:
        raise InvalidRequest(f"speed must be a number from {SPEED_MIN} to {SPEED_MAX}.", param="speed")
