"""Speech, and what listens to it."""

import base64
from typing import Any

from tests.factories.audio import wav
from tests.inference.misbehaviour.behaviours import BROKEN_INVALID, INVALID, OK
from tests.inference.misbehaviour.row import Form, Json, Outcome, Row
from tests.support.upstream.behaviours import HOST

SPEECH, TRANSCRIPTIONS, TRANSLATIONS = "/v1/audio/speech", "/v1/audio/transcriptions", "/v1/audio/translations"
AUDIO = b"ID3" + bytes(range(256)) * 12
SECONDS: Json = {"type": "duration", "seconds": 3}
TRANSCRIPT: Json = {"text": "Badgers dig at night.", "usage": SECONDS, "provider": HOST}
WORDS = ("Badgers", " dig", " at", " night.")

AS_THE_FILE_IS = {f"usage {form}": OK for form in ("missing", "null", "string", "fractional")}
"""The file's seconds are the hold, so an answer that states none is charged by them; a text with a number is one, and a part
of a second is a whole one, as far as the hold goes."""
NO_SECONDS = "usage partial"


def form(alias: str, **fields: str) -> Form:
    """Make a form with a file of two and a half seconds."""
    return Form({"model": alias, **fields}, ("a.wav", wav(2.5), "audio/wav"))


def _spoken() -> list[Json]:
    pieces = [AUDIO[at : at + 1024] for at in range(0, len(AUDIO), 1024)]
    deltas = [{"type": "speech.audio.delta", "audio": base64.b64encode(piece).decode()} for piece in pieces]
    usage = {"input_tokens": 5, "output_tokens": 50, "total_tokens": 55}
    return [*deltas, {"type": "speech.audio.done", "usage": usage, "provider": HOST}]


def _transcribed() -> list[Json]:
    deltas = [{"type": "transcript.text.delta", "delta": word, "provider": HOST} for word in WORDS]
    return [*deltas, {"type": "transcript.text.done", **TRANSCRIPT}]


LISTENING: dict[str, Any] = {"price": {"audio_second": "100"}, "charge_microusd": 300}
STATED: dict[str, Any] = {**LISTENING, "answer": TRANSCRIPT, "outcomes": {**AS_THE_FILE_IS, NO_SECONDS: INVALID}}
IN_TEXT: dict[str, Any] = {
    **LISTENING,
    "answer": TRANSCRIPT["text"].encode(),
    "media_type": "text/plain; charset=utf-8",
    "usage": None,
    "body": lambda alias: form(alias, response_format="text"),
}
STREAMED: dict[str, Outcome] = {**AS_THE_FILE_IS, NO_SECONDS: BROKEN_INVALID}

ROWS = [
    Row(
        "speech",
        SPEECH,
        "audio.speech",
        lambda alias: {"model": alias, "input": "Badgers sleep.", "voice": "alloy"},
        answer=AUDIO,
        media_type="audio/mpeg",
        is_handed_on=True,
        charge_microusd=210,
        price={"input_character": "15"},
        usage=None,
        events=_spoken(),
        stream_usage=None,
        stream_members={"stream_format": "sse"},
    ),
    Row(
        "transcriptions",
        TRANSCRIPTIONS,
        "audio.transcriptions",
        form,
        events=_transcribed(),
        streamed=STREAMED,
        **STATED,
    ),
    Row("transcriptions as text", TRANSCRIPTIONS, "audio.transcriptions", **IN_TEXT),
    Row("translations", TRANSLATIONS, "audio.translations", form, **STATED),
    Row("translations as text", TRANSLATIONS, "audio.translations", **IN_TEXT),
]
