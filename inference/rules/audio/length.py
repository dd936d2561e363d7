"""Measures the length of an audio file for its hold: the container's claim if the frames agree, otherwise their sum."""

import math
from dataclasses import dataclass

from tinytag import TinyTagException

from inference.rules.audio.flac import read_flac
from inference.rules.audio.mp4 import read_mp4
from inference.rules.audio.mpeg import frame_of, read_mpeg
from inference.rules.audio.ogg import read_ogg
from inference.rules.audio.source import AudioFile, Clock, Reading, Stored, UnreadableAudio
from inference.rules.audio.wav import read_wav
from inference.rules.audio.webm import read_webm

TOLERANCE_SECONDS = 1.0
TOLERANCE_PART = 0.02
"""How much shorter than the frames a claim may be: encoders trim the padding that they add at both ends."""
SECONDS_MAX = 30 * 24 * 3600

_READERS = {
    "wav": read_wav,
    "flac": read_flac,
    "m4a": read_mp4,
    "mp3": read_mpeg,
    "ogg": read_ogg,
    "webm": read_webm,
}
MEDIA_TYPES = {
    "wav": "audio/wav",
    "mp3": "audio/mpeg",
    "flac": "audio/flac",
    "ogg": "audio/ogg",
    "m4a": "audio/mp4",
    "webm": "audio/webm",
}
"""The supported containers, by file name extension, with their media types."""


@dataclass(frozen=True, slots=True)
class AudioLength:
    """A file's container, and its length in whole seconds, rounded up."""

    container: str
    seconds: int


def read_length(stored: Stored, clock: Clock) -> AudioLength:
    """Read the length of a file. `clock` returns seconds of processor time. Raises UnreadableAudio."""
    file = AudioFile(stored, clock)
    container = container_of(file)
    try:
        reading = _READERS[container](file)
    except UnreadableAudio:
        raise
    except (TinyTagException, ValueError, ArithmeticError, LookupError) as error:
        raise UnreadableAudio("The file is damaged.") from error
    seconds = _best(reading)
    if not 0 < seconds <= SECONDS_MAX:
        raise UnreadableAudio("The file contains no audio, or claims to last for more than a month.")
    return AudioLength(container, math.ceil(seconds))


def container_of(file: AudioFile) -> str:
    """Detect the container from the file's first bytes. Raises UnreadableAudio."""
    head = file.at(0, 12)
    if head.startswith(b"RIFF") and head[8:] == b"WAVE":
        return "wav"
    for start, at, container in _STARTS:
        if head.startswith(start, at):
            return container
    if len(head) > 2 and frame_of(*head[:3]):
        return "mp3"
    raise UnreadableAudio("The file is not a wav, mp3, m4a, mp4, ogg, flac or webm file.")


_STARTS = (
    (b"fLaC", 0, "flac"),
    (b"OggS", 0, "ogg"),
    (b"ftyp", 4, "m4a"),
    (b"\x1a\x45\xdf\xa3", 0, "webm"),
    (b"ID3", 0, "mp3"),
)


def _best(reading: Reading) -> float:
    """Accept a claim that is at least about as long as the frames; otherwise return their maximum length."""
    shortest = reading.least - max(TOLERANCE_SECONDS, reading.least * TOLERANCE_PART)
    if reading.claimed and reading.claimed >= shortest:
        return reading.claimed
    return reading.least if reading.most is None else reading.most
