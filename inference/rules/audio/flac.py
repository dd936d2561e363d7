"""FLAC: finds frames by their headers and counts them (RFC 9639 section 9.1)."""

import re

from inference.rules.audio.source import WINDOW_BYTES, AudioFile, Reading, UnreadableAudio, check_count, read_tag

_HEAD = re.compile(rb"\xff[\xf8\xf9][\x10-\xfe][\x00-\xaf]", re.DOTALL)
_HEAD_MAX_BYTES = 16
_STREAMINFO_END = 42
"""The end of the block that every file begins with (RFC 9639 section 8.2)."""
_BLOCKS = {1: 192, **{code: 144 << code for code in range(2, 6)}, **{code: 1 << code for code in range(8, 16)}}

_HERTZ = (0, 88200, 176400, 192000, 8000, 16000, 22050, 24000, 32000, 44100, 48000, 96000)
"""Sample rates by their code; 0 is that of the file's header. Behind the codes 12 to 14 are a number and its unit."""
_RATE_BYTES, _RATE_UNITS = {12: 1, 13: 2, 14: 2}, {12: 1000, 13: 1, 14: 10}


def read_flac(file: AudioFile) -> Reading:
    """Sum the lengths of all frames. If a frame states another sample rate than the file's header, the lower one counts:
    decoders differ in which of them they go by."""
    tag = read_tag(file, _STREAMINFO_END)
    if not tag.samplerate:
        raise UnreadableAudio("The FLAC header has no sample rate.")
    return Reading(tag.duration or None, frame_seconds(file, tag.samplerate))


def frame_seconds(file: AudioFile, header_hertz: int) -> float:
    """Return the length of all frames in a file. Raises UnreadableAudio if there are too many."""
    seconds, candidates, offset = 0.0, 0, 0
    while len(window := file.at(offset, WINDOW_BYTES)) > _HEAD_MAX_BYTES:
        most = len(window) if len(window) < WINDOW_BYTES else len(window) - _HEAD_MAX_BYTES
        for match in _HEAD.finditer(window, 0, min(most + 3, len(window))):
            if match.start() < most:
                candidates += 1
                samples, hertz = _frame_of(window[match.start() : match.start() + _HEAD_MAX_BYTES])
                seconds += samples / min(hertz or header_hertz, header_hertz)
        check_count(candidates * 4)
        offset += most
    return seconds


def _frame_of(head: bytes) -> tuple[int, int]:
    """Return the number of samples in the frame with this header, 0 if its checksum is wrong, and their rate, 0 if it is that
    of the file's header."""
    size_code, rate_code = head[2] >> 4, head[2] & 15
    number_bytes = next((count for count, bit in enumerate((0x80, 0x40, 0x20, 0x10, 8, 4, 2)) if not head[4] & bit), 7)
    at = 4 + max(number_bytes, 1)
    sized, rated = {6: 1, 7: 2}.get(size_code, 0), _RATE_BYTES.get(rate_code, 0)
    end = at + sized + rated
    if head[3] & 1 or end >= len(head) or crc8(head[:end]) != head[end]:
        return 0, 0
    samples = int.from_bytes(head[at : at + sized], "big") + 1 if sized else _BLOCKS.get(size_code, 0)
    if rated:
        return samples, int.from_bytes(head[at + sized : end], "big") * _RATE_UNITS[rate_code]
    return samples, _HERTZ[rate_code] if rate_code < len(_HERTZ) else 0


def crc8(data: bytes) -> int:
    """Compute the checksum of a frame's header, polynomial x^8 + x^2 + x + 1."""
    value = 0
    for byte in data:
        value = _CRC[value ^ byte]
    return value


def _crc_of(byte: int) -> int:
    for _ in range(8):
        byte = (byte << 1 ^ 0x07) & 0xFF if byte & 0x80 else byte << 1
    return byte


_CRC = [_crc_of(byte) for byte in range(256)]
