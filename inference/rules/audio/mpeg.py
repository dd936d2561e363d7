"""MP3: walks the frames one by one, because the first frame's claim is only a hint for players."""

import re
from functools import lru_cache

from inference.rules.audio.reading import Reading, UnreadableAudio, check_count
from inference.rules.audio.source import WINDOW_BYTES, AudioFile

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
_FRAME_MAX_BYTES = 4096
"""More than the largest frame, and the header behind it."""
_HEADER = re.compile(
    rb"\xff[\xe2-\xe7\xf2-\xf7\xfa-\xff][%s]"
    % b"".join(b"\\x%02x" % rates for rates in range(256) if 0 < rates >> 4 < 15 and rates >> 2 & 3 != 3)
)
"""What `frame_of` accepts, so that it is not called for every byte of what is none."""


class _Walk:
    """The frames found so far, and the bytes between them."""

    def __init__(self, stray_max_bytes: int) -> None:
        self.seconds, self.frames, self.stray_bytes = 0.0, 0, 0
        self._stray_max_bytes = stray_max_bytes
        self._in_step = False

    def over(self, window: bytes, end: int) -> int:
        """Walk the frames that begin before `end`, and return where the next one may begin. Raises UnreadableAudio."""
        at = 0
        while at < end:
            frame = frame_of(window[at], window[at + 1], window[at + 2])
            if frame and (self._in_step or _is_followed(window, at + frame[0])):
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
            raise UnreadableAudio("The file is no MP3 whose frames can be read.")


def read_mpeg(file: AudioFile) -> Reading:
    """Sum the frames. Raises UnreadableAudio if there are none, or too many other bytes."""
    offset = _behind_id3(file)
    walk = _Walk(max(_STRAY_MAX_BYTES, file.size_bytes // 20))
    while len(window := file.at(offset, WINDOW_BYTES)) >= 4:
        is_last = len(window) < WINDOW_BYTES
        offset += walk.over(window, len(window) - 3 if is_last else len(window) - _FRAME_MAX_BYTES)
    if not walk.frames:
        raise UnreadableAudio("The file is no MP3 whose frames can be read.")
    return Reading(None, walk.seconds)


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
        size = sum((byte & 0x7F) << shift for byte, shift in zip(head[6:], (21, 14, 7, 0), strict=True))
        offset += 10 + size + (10 if head[5] & 0x10 else 0)
    raise UnreadableAudio("The file has too many tags.")
