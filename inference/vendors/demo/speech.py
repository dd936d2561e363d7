"""Speech of the demo backend, which has no voice: a tone as long as the words would take."""

import asyncio
import io
import math
import struct
import wave
from collections.abc import AsyncIterator

from gateway.core.contract.errors import InvalidRequest
from inference.interface.answer import Answer, Chunk
from inference.interface.upstream import Attempt
from inference.routes.speech.bound import BoundedSpeech
from inference.routes.speech.request import SpeechRequest
from inference.routes.speech.stream import DONE, delta_of
from inference.vendors.demo.endpoint import DemoEndpoint

HERTZ = 24_000
CHARACTERS_PER_SECOND = 15
SECONDS_MAX = 60
PIECE_BYTES = 24 * 1024
_MP3_HEAD = b"\xff\xf3\x84\xc4"
"""MPEG-2 layer III, 64 kbit/s, 24 kHz, one channel: a frame of 192 bytes and 24 ms. One of zeros is silence."""
_MP3_FRAME = _MP3_HEAD + bytes(192 - len(_MP3_HEAD))


class DemoSpeech(DemoEndpoint[BoundedSpeech]):
    """Returns a tone as wav and pcm, silence as mp3, and refuses formats that need an encoder."""

    async def answer(self, attempt: Attempt[BoundedSpeech]) -> Answer:
        return Answer(audio_for(attempt.request.params), None)

    def chunks(self, attempt: Attempt[BoundedSpeech]) -> AsyncIterator[Chunk]:
        """Yield it in pieces. Raises InvalidRequest at once."""
        params = attempt.request.params
        return _pieces(audio_for(params), as_events=params.as_events)


async def _pieces(audio: bytes, *, as_events: bool) -> AsyncIterator[Chunk]:
    for at in range(0, len(audio), PIECE_BYTES):
        piece = audio[at : at + PIECE_BYTES]
        yield Chunk(delta_of(piece) if as_events else piece)
        await asyncio.sleep(0)
    yield Chunk(b"", events=({"type": DONE},))


def audio_for(params: SpeechRequest) -> bytes:
    """Generate the audio. Raises InvalidRequest for a format that needs an encoder."""
    seconds = min(max(params.characters / CHARACTERS_PER_SECOND, 0.25), SECONDS_MAX)
    match params.audio_format:
        case "wav":
            return _wav(_tone(seconds))
        case "pcm":
            return _tone(seconds)
        case "mp3":
            return _MP3_FRAME * math.ceil(seconds / 0.024)
    raise InvalidRequest("The demo backend makes wav, pcm and mp3 only.", param="response_format")


def _tone(seconds: float) -> bytes:
    """Generate an A of 440 Hz with 16-bit samples, in whole periods of six hundred samples."""
    period = struct.pack("<600h", *(round(6000 * math.sin(math.tau * 11 * at / 600)) for at in range(600)))
    return period * max(round(seconds * HERTZ / 600), 1)


def _wav(samples: bytes) -> bytes:
    written = io.BytesIO()
    with wave.open(written, "wb") as file:
        file.setnchannels(1)
        file.setsampwidth(2)
        file.setframerate(HERTZ)
        file.writeframes(samples)
    return written.getvalue()
