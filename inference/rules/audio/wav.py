"""WAV: the length follows from the number of bytes and the rate, because its samples are not compressed."""

from collections.abc import Iterator

from inference.rules.audio.reading import Reading, UnreadableAudio
from inference.rules.audio.source import WINDOW_BYTES, AudioFile
from inference.rules.audio.tag import read_tag

_BITS = {"1": None, "3": None, "6": 8, "7": 8}
"""PCM and floating point, whose header states the bits per sample; A-law and mu-law, which have 8."""
_HEADER_BYTES = 44


def read_wav(file: AudioFile) -> Reading:
    """Count every byte after the smallest header as audio: a decoder does so if the header states too few. A header
    that states more, as from recorders that cannot seek back, is ignored. Raises UnreadableAudio for a file with several
    formats: decoders differ in which of them they go by."""
    head = file.at(0, WINDOW_BYTES)
    if len({at for padding in (0, 1) for at in _formats(head, padding)}) > 1:
        raise UnreadableAudio("A WAV file must state its format once.")
    tag = read_tag(file, WINDOW_BYTES)
    codec = (tag.mime_type or "").partition('codecs="')[2].rstrip('"')
    if codec not in _BITS:
        raise UnreadableAudio("A WAV file must hold PCM, floating-point, A-law or mu-law samples.")
    rate = (tag.samplerate or 0) * (tag.channels or 0) * (_BITS[codec] or tag.bitdepth or 0) / 8
    if rate <= 0:
        raise UnreadableAudio("The WAV header has no sample rate, channels or bits.")
    seconds = max(file.size_bytes - _HEADER_BYTES, 0) / rate
    is_told = codec not in ("6", "7") and tag.duration is not None and tag.duration <= seconds
    return Reading(tag.duration if is_told else None, seconds)


def _formats(head: bytes, padding: int) -> Iterator[int]:
    """Yield the offsets of the chunks that state a format. Chunks of an odd size are padded, which some decoders ignore."""
    at = 12
    while len(chunk := head[at : at + 8]) == 8:
        if chunk[:4] == b"fmt ":
            yield at
        size = int.from_bytes(chunk[4:], "little")
        at += 8 + size + (size & padding)
