"""Speech, transcriptions and translations in the vendor's format."""

import asyncio
import base64
import hashlib
import io
import math
import wave
from collections.abc import Iterator, Mapping
from typing import Any

from aiohttp import BodyPartReader, web

from tests.support.upstream.behaviours import Behaviour
from tests.support.upstream.call import Call
from tests.support.upstream.delivery import (
    PIECE_SECONDS,
    cut_off,
    deliver_body,
    deliver_stream,
    open_answer,
    stay_silent,
)
from tests.support.upstream.errors import deform
from tests.support.upstream.stream import Frame, dumps
from tests.support.upstream.usage import ABSENT, report

SPEECH = "/audio/speech"
PATHS = {SPEECH: "spch", "/audio/transcriptions": "trsc", "/audio/translations": "trsl"}
MEDIA_TYPES = {
    "mp3": "audio/mpeg",
    "opus": "audio/opus",
    "aac": "audio/aac",
    "flac": "audio/flac",
    "wav": "audio/wav",
    "pcm": "audio/pcm",
}
TEXT_TYPE = "text/plain; charset=utf-8"
TEXT = "the quick brown fox"
PIECE_BYTES = 1000
FALLBACK_SECONDS = 3.0


async def read_form(request: web.Request) -> dict[str, Any]:
    """Read a form piece by piece; of a file, its properties are recorded, and of a small one its bytes."""
    body: dict[str, Any] = {}
    async for part in await request.multipart():
        assert isinstance(part, BodyPartReader)
        data = bytes(await part.read())
        if part.filename is None:
            body.setdefault(str(part.name), []).append(data.decode())
            continue
        digest = hashlib.sha256(data).hexdigest()
        body["file"] = {
            "name": part.filename,
            "type": part.headers["Content-Type"],
            "size": len(data),
            "sha256": digest,
            "seconds": seconds_of(data),
        }
    return {name: value[0] if isinstance(value, list) and len(value) == 1 else value for name, value in body.items()}


def seconds_of(data: bytes) -> float:
    """Measure a WAV file; any other counts as three seconds."""
    try:
        with wave.open(io.BytesIO(data)) as file:
            return file.getnframes() / file.getframerate()
    except (wave.Error, EOFError):
        return FALLBACK_SECONDS


async def serve(call: Call) -> web.StreamResponse:
    """Respond to a call of one of the routes."""
    if call.entry.path == SPEECH:
        return await _speak(call)
    if call.streaming:
        call.entry.planned_tokens = len(TEXT.split())
        return await deliver_stream(call, _events(call))
    layout = call.body.get("response_format", "json")
    if layout in ("text", "srt", "vtt"):
        return await deliver_body(call, deform(laid_out(layout).encode(), call.behaviour.form), TEXT_TYPE)
    rendered = _rendered(call.body, call.behaviour, layout)
    call.entry.reported_usage = rendered.get("usage")
    call.entry.completion_tokens = 1
    return await deliver_body(call, deform(dumps(rendered), call.behaviour.form), "application/json")


def laid_out(layout: str) -> str:
    """Render the text as text or subtitles."""
    return {
        "text": f"{TEXT}\n",
        "srt": f"1\n00:00:00,000 --> 00:00:02,000\n{TEXT}\n\n",
        "vtt": f"WEBVTT\n\n00:00:00.000 --> 00:00:02.000\n{TEXT}\n\n",
    }[layout]


def audio_of(behaviour: Behaviour) -> bytes:
    """Generate the audio: a thousand bytes per token."""
    return b"".join(bytes([index % 256]) * PIECE_BYTES for index in range(behaviour.tokens))


def _rendered(body: Mapping[str, Any], behaviour: Behaviour, layout: str) -> dict[str, Any]:
    answer: dict[str, Any] = {"text": TEXT}
    if layout != "json":
        seconds = body["file"]["seconds"]
        segment = {"id": 0, "start": 0.0, "end": seconds, "text": TEXT, "speaker": "A"}
        answer |= {"task": "transcribe", "language": "english", "duration": seconds, "segments": [segment]}
    usage = _usage(body, behaviour)
    return answer if usage is ABSENT else {**answer, "usage": usage}


def _usage(body: Mapping[str, Any], behaviour: Behaviour) -> Any:
    if behaviour.audio_tokens:
        tokens = {"input_tokens": behaviour.audio_tokens, "output_tokens": 4}
        return {"type": "tokens", **tokens, "total_tokens": behaviour.audio_tokens + 4}
    seconds = behaviour.audio_seconds or math.ceil(body["file"]["seconds"])
    return report({"type": "duration", "seconds": seconds}, behaviour.usage)


def _events(call: Call) -> Iterator[Frame]:
    for index, word in enumerate(TEXT.split()):
        yield Frame({"type": "transcript.text.delta", "delta": f" {word}" if index else word}, tokens=1)
    if call.behaviour.error_event:
        yield Frame({"error": {"message": "broken", "type": "server_error", "code": None}})
        return
    usage = _usage(call.body, call.behaviour)
    done = {"type": "transcript.text.done", "text": TEXT}
    if call.behaviour.done:
        yield Frame(done if usage is ABSENT else {**done, "usage": usage})


async def _speak(call: Call) -> web.StreamResponse:
    audio = audio_of(call.behaviour)
    call.entry.planned_tokens = call.behaviour.tokens
    if call.body.get("stream_format") == "sse" and call.behaviour.form != "swapped":
        return await deliver_stream(call, _spoken_events(call, audio))
    if call.behaviour.form not in ("json", "swapped"):
        audio = deform(audio, call.behaviour.form)
    return await _send_pieces(call, audio, MEDIA_TYPES[call.body.get("response_format") or "mp3"])


def _spoken_events(call: Call, speech: bytes) -> Iterator[Frame]:
    for at in range(0, len(speech), PIECE_BYTES):
        audio = base64.b64encode(speech[at : at + PIECE_BYTES]).decode()
        yield Frame({"type": "speech.audio.delta", "audio": audio}, tokens=1)
    if call.behaviour.done:
        usage = {"input_tokens": 5, "output_tokens": 50, "total_tokens": 55}
        yield Frame({"type": "speech.audio.done", "usage": usage})


async def _send_pieces(call: Call, speech: bytes, media_type: str) -> web.StreamResponse:
    """Send audio in chunks with pauses, up to the behavior's cut."""
    response = await open_answer(call, media_type)
    pieces = [speech[at : at + PIECE_BYTES] for at in range(0, len(speech), PIECE_BYTES)]
    for index, piece in enumerate(pieces):
        if index:
            await call.gate.wait()
            await asyncio.sleep(call.behaviour.token_delay_ms / 1000 or PIECE_SECONDS)
        call.require_peer()
        await response.write(piece)
        call.entry.completion_tokens += 1
        if index == len(pieces) // 2 and call.behaviour.cut in ("mid_body", "mid_stream"):
            await cut_off(call)
        if index == len(pieces) // 2 and call.behaviour.hang == "mid_body":
            await stay_silent(call)
    call.entry.outcome = "complete"
    await response.write_eof()
    return response
