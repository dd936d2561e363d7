"""MP3: walks the frames one by one, because the first frame's claim is only a hint for players."""

import re
from functools import lru_cache

from inference.rules.audio.source import WINDOW_BYTES, AudioFile, Reading, UnreadableAudio, check_count

_RATES = {3: (44100, 48000, 32000), 2: (22050, 24000, 16000), 0: (11025, 12000, 8000)}
_KBITS = {
    (True, 3): (32, 64, 96, 128, 160, 192, 224, 256, 288, 320, 352, 384, 416, 448),
    (True, 2): (32, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320, 384),
    (True, 1): (32, 40, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320),
    (False, 3): (32, 48, 56, 64, 80, 96, 112, 128, 144, 160, 176, 192, 224, 256),
    (False, 2): (8, 16, 24, 32, 40, 48, 56, 64, 80, 96, 112, 128, 144, 160),
    (False, 1): (8, 16, 24, 32, 40, 48, 56, 64, 80, 96, 112, 128, 144, 160),
}
_STRAY_MAX_BYTES = 64 * 1024
_ID3_MAX = 64
_FIRST_FRAMES = 7
"""So many frames at the beginning are an MP3 to ffmpeg, whatever follows."""
_ID3V1_BYTES = 128
_FRAME_MAX_BYTES = 4096
"""More than the largest frame, and the header behind it."""
_HEADER = re.compile(
    rb"\xff[\xe2-\xe7\xf2-\xf7\xfa-\xff][%s]"
    % b"".join(b"\\x%02x" % rates for rates in range(256) if 0 < rates >> 4 < 15 and rates >> 2 & 3 != 3)
)
"""What `frame_of` accepts, so that it is not called for every byte of what is none."""


class _Walk:
    """The frames found so far, and the bytes between them.

    Behind other bytes, a strict walk looks for a frame that another follows; one that is not strict takes the first, as some
    decoders do.
    """

    def __init__(self, stray_max_bytes: int, *, is_strict: bool) -> None:
        self.seconds, self.frames, self.stray_bytes = 0.0, 0, 0
        self._stray_max_bytes = stray_max_bytes
        self._in_step, self._is_lax = False, not is_strict

    def over(self, window: bytes, end: int) -> int:
        """Walk the frames that begin before `end`, and return where the next one may begin. Raises UnreadableAudio."""
        at = 0
        while at < end:
            frame = frame_of(window[at], window[at + 1], window[at + 2])
            if frame and (self._in_step or self._is_lax or _is_followed(window, at + frame[0])):
                at, self.seconds, self.frames, self._in_step = (
                    at + frame[0],
                    self.seconds + frame[1],
                    self.frames + 1,
                    True,
                )
                continue
            found = _HEADER.search(window, at + 1)
            step = (found.start() if found else max(at + 1, end)) - at
            at, self._in_step = at + step, False
            self._count_stray(step)
        check_count(self.frames)
        return at

    def _count_stray(self, stray_bytes: int) -> None:
        self.stray_bytes += stray_bytes
        if self.stray_bytes > self._stray_max_bytes:
            raise UnreadableAudio("The file is not an MP3 with readable frames.")


def read_mpeg(file: AudioFile) -> Reading:
    """Sum the frames. Raises UnreadableAudio if it does not begin with frames, or has too many other bytes.

    If there are other bytes between the frames, decoders differ in which frames they find behind them, so that the length is
    that of the walk that finds more.
    """
    begin = _first_frame(file)
    stray_max_bytes = max(_STRAY_MAX_BYTES, file.size_bytes // 20)
    strict = _walked(file, begin, _Walk(stray_max_bytes, is_strict=True))
    if not strict.stray_bytes:
        return Reading(None, strict.seconds)
    lax = _walked(file, begin, _Walk(file.size_bytes, is_strict=False))
    return Reading(strict.seconds, lax.seconds)


def _walked(file: AudioFile, offset: int, walk: _Walk) -> _Walk:
    while len(window := file.at(offset, WINDOW_BYTES)) >= 4:
        is_last = len(window) < WINDOW_BYTES
        offset += walk.over(window, len(window) - 3 if is_last else len(window) - _FRAME_MAX_BYTES)
    return walk


def _first_frame(file: AudioFile) -> int:
    """Return the offset of the first frame, behind tags and zeros. Raises UnreadableAudio if the first frames do not follow one
    another with one sampling rate: decoders would take the file for another container, or begin with other frames."""
    offset = _behind_id3(file)
    while (window := file.at(offset, WINDOW_BYTES)) and not window.strip(b"\0"):
        offset += len(window)
    offset += len(window) - len(window.lstrip(b"\0"))
    at, first = offset, b""
    for _ in range(_FIRST_FRAMES):
        head = file.at(at, 4)
        if first and (len(head) < 4 or (head[:3] == b"TAG" and at + _ID3V1_BYTES >= file.size_bytes)):
            break
        frame = frame_of(*head[:3]) if len(head) == 4 else None
        kind = bytes([head[1] & 0xFE, head[2] & 0x0C]) if frame else b""
        if frame is None or (first and kind != first):
            raise UnreadableAudio("The file does not begin with MP3 frames of one kind.")
        at, first = at + frame[0], kind
    return offset


@lru_cache(maxsize=65536)
def frame_of(sync: int, kind: int, rates: int) -> tuple[int, float] | None:
    """Return the bytes and the seconds of the frame with this header, None if the header is invalid."""
    version, layer, bits, rate = kind >> 3 & 3, kind >> 1 & 3, rates >> 4, rates >> 2 & 3
    if sync != 0xFF or kind & 0xE0 != 0xE0 or version == 1 or layer == 0 or not 0 < bits < 15 or rate == 3:
        return None
    hertz, is_first = _RATES[version][rate], version == 3
    samples = 384 if layer == 3 else 1152 if layer == 2 or is_first else 576
    slot = 4 if layer == 3 else 1
    size = (samples // 8 // slot * 1000 * _KBITS[is_first, layer][bits - 1] // hertz + (rates >> 1 & 1)) * slot
    return size, samples / hertz


def _is_followed(window: bytes, at: int) -> bool:
    """Return whether another frame or the end of the file follows: two bytes that look like a header occur by
    chance."""
    head = window[at : at + 3]
    return len(head) < 3 or head == b"TAG" or frame_of(*head) is not None


def _behind_id3(file: AudioFile) -> int:
    """Skip the tags at the start (ID3v2.4 section 3.1) by their stated size, as players do. Raises UnreadableAudio if
    there are too many."""
    offset = 0
    for _ in range(_ID3_MAX):
        head = file.at(offset, 10)
        if head[:3] != b"ID3" or len(head) < 10:
            return offset
        if 0xFF in head[3:5] or max(head[6:]) > 0x7F:
            raise UnreadableAudio("The file has a damaged tag, which some decoders do not skip.")
        size = sum((byte & 0x7F) << shift for byte, shift in zip(head[6:], (21, 14, 7, 0), strict=True))
        offset += 10 + size + (10 if head[5] & 0x10 else 0)
    raise UnreadableAudio("The file has too many tags.")
