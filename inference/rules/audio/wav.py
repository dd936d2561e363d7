"""WAV: the length follows from the number of bytes and the rate, because its samples are not compressed."""

import re
from collections.abc import Iterator

from inference.rules.audio.source import WINDOW_BYTES, AudioFile, Reading, UnreadableAudio, read_tag

_BITS = {"1": None, "3": None, "6": 8, "7": 8}
"""PCM and floating point, whose header states the bits per sample; A-law and mu-law, which have 8."""
_EXTENSIBLE = b"\xfe\xff"
_NAME = re.compile(rb"[ -~]{4}")
_CHUNKS_MAX = 10_000
"""More than any file has, and more than a window of silence is read as where a recorder left the audio's size open."""
_HEADER_BYTES = 44


def read_wav(file: AudioFile) -> Reading:
    """Count every byte after the smallest header as audio: a decoder does so if the header states too few. A header
    that states more, as from recorders that cannot seek back, is ignored. Raises UnreadableAudio for a file with several
    formats: decoders differ in which of them they go by."""
    formats = {at for padding in (0, 1) for at in _formats(file, padding)}
    if len(formats) > 1:
        raise UnreadableAudio("A WAV file must state its format once.")
    tag = read_tag(file, WINDOW_BYTES)
    codec = (tag.mime_type or "").partition('codecs="')[2].rstrip('"')
    if codec not in _BITS:
        raise UnreadableAudio("A WAV file must hold PCM, floating-point, A-law or mu-law samples.")
    bits = _BITS[codec] or min([tag.bitdepth or 0, *(valid for at in formats if (valid := _valid_bits(file, at)))])
    rate = (tag.samplerate or 0) * (tag.channels or 0) * bits / 8
    if rate <= 0:
        raise UnreadableAudio("The WAV header has no sample rate, channels or bits.")
    seconds = max(file.size_bytes - _HEADER_BYTES, 0) / rate
    is_stated = codec not in ("6", "7") and tag.duration is not None and tag.duration <= seconds
    return Reading(tag.duration if is_stated else None, seconds)


def _formats(file: AudioFile, padding: int) -> Iterator[int]:
    """Yield the offsets of the chunks that state a format, within the first window, and behind it up to the audio or to what is no
    chunk. Chunks of an odd size are padded, which some writers and decoders ignore."""
    at, is_behind = 12, False
    for _ in range(_CHUNKS_MAX):
        chunk = file.at(at, 8)
        if len(chunk) < 8 or (at >= WINDOW_BYTES and (is_behind or not _NAME.match(chunk))):
            return
        if chunk[:4] == b"fmt ":
            yield at
        is_behind = is_behind or chunk[:4] == b"data"
        size = int.from_bytes(chunk[4:], "little")
        at += 8 + size + (size & padding)
    raise UnreadableAudio("The file has too many parts.")


def _valid_bits(file: AudioFile, at: int) -> int:
    """Return the bits per sample that an extensible format calls valid, in whole bytes: some decoders read samples of this size.
    Returns 0 if it states none, or 24 of 32, which all decoders know."""
    chunk = file.at(at, 28)
    bits, valid = (int.from_bytes(chunk[begin : begin + 2], "little") for begin in (22, 26))
    return -(-valid // 8) * 8 if chunk[8:10] == _EXTENSIBLE and (bits, valid) != (32, 24) else 0
