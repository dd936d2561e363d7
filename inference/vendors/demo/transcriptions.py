"""Transcriptions of the demo backend, which cannot transcribe and says so."""

import asyncio
from collections.abc import AsyncIterator
from typing import Any

from inference.interface.answer import Answer, Chunk
from inference.interface.upstream import Attempt
from inference.routes.transcriptions.bound import BoundedTranscription
from inference.routes.transcriptions.request import TranscriptionRequest
from inference.routes.transcriptions.stream import DELTA, DONE, render
from inference.vendors.demo.endpoint import TOKEN_SECONDS, DemoEndpoint
from inference.vendors.demo.tokens import pieces_of


class DemoTranscriptions(DemoEndpoint[BoundedTranscription]):
    """Describes the file instead of transcribing it."""

    async def answer(self, attempt: Attempt[BoundedTranscription]) -> Answer:
        params = attempt.request.params
        text, seconds = _text(params), params.seconds
        if params.is_text:
            return Answer(_laid_out(params.answer_format, text, seconds), None)
        usage = {"type": "duration", "seconds": seconds}
        body: dict[str, Any] = {"text": text, "usage": usage}
        if params.answer_format != "json":
            segment = {"id": 0, "start": 0.0, "end": float(seconds), "text": text}
            if params.answer_format == "diarized_json":
                segment |= {"id": "seg_0", "type": "transcript.text.segment", "speaker": "A"}
            body |= {"task": "transcribe", "language": "english", "duration": float(seconds), "segments": [segment]}
        return Answer(body, usage)

    async def chunks(self, attempt: Attempt[BoundedTranscription]) -> AsyncIterator[Chunk]:
        params = attempt.request.params
        text = _text(params)
        for piece in pieces_of(text):
            yield Chunk(render({"type": DELTA, "delta": piece}), 1, len(piece))
            await asyncio.sleep(float(attempt.target.options.get("token_seconds", TOKEN_SECONDS)))
        usage = {"type": "duration", "seconds": params.seconds}
        yield Chunk(b"", events=({"type": DONE, "text": text, "usage": usage},))


def _text(params: TranscriptionRequest) -> str:
    unit = "second" if params.seconds == 1 else "seconds"
    return f"This is the demo backend, which cannot hear. It got {params.seconds} {unit} of {params.container}."


def _laid_out(layout: str, text: str, seconds: int) -> str:
    if layout == "text":
        return f"{text}\n"
    end = f"{seconds // 3600:02}:{seconds // 60 % 60:02}:{seconds % 60:02}"
    if layout == "srt":
        return f"1\n00:00:00,000 --> {end},000\n{text}\n\n"
    return f"WEBVTT\n\n00:00:00.000 --> {end}.000\n{text}\n\n"
