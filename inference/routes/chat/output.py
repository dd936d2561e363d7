"""Reads what a chat request asks for besides a written answer: speech, or a predicted output."""

from collections.abc import Mapping
from typing import Any

from gateway.core.contract.errors import InvalidRequest

MODALITIES = ("text", "audio")


def reads_aloud(body: Mapping[str, Any]) -> bool:
    """Return whether the answer may be spoken, or raise InvalidRequest naming the member at fault."""
    modalities, audio = body.get("modalities"), body.get("audio")
    if modalities is not None and not _are_modalities(modalities):
        raise InvalidRequest("modalities must be a list of text and audio.", param="modalities")
    if audio is not None:
        _check_audio(audio)
    return audio is not None or "audio" in (modalities or ())


def predicted_bytes(body: Mapping[str, Any]) -> int:
    """Measure a prediction in UTF-8 bytes, which its tokens cannot exceed, or raise InvalidRequest naming the member."""
    prediction = body.get("prediction")
    if prediction is None:
        return 0
    content = prediction.get("content") if isinstance(prediction, dict) else None
    texts = [content] if isinstance(content, str) else [_text_of(part) for part in _list(content)]
    return sum(len(text.encode()) for text in texts)


def _are_modalities(value: Any) -> bool:
    return isinstance(value, list) and bool(value) and all(one in MODALITIES for one in value)


def _check_audio(audio: Any) -> None:
    if not isinstance(audio, dict):
        raise InvalidRequest("audio must be an object.", param="audio")
    # A provider's voice id could name any voice of the operator's account, including another customer's.
    if not isinstance(audio.get("voice"), str):
        raise InvalidRequest("voice must be the name of a voice.", param="audio.voice")


def _list(content: Any) -> list[Any]:
    if not isinstance(content, list):
        raise InvalidRequest("A prediction needs content, a text or a list of text parts.", param="prediction.content")
    return content


def _text_of(part: Any) -> str:
    text = part.get("text") if isinstance(part, dict) and part.get("type") == "text" else None
    if not isinstance(text, str):
        raise InvalidRequest("A prediction needs content, a text or a list of text parts.", param="prediction.content")
    return text
