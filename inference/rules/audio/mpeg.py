"""MP3: walks the frames one by one, because the first frame's claim is only a hint for players."""

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


def read_mpeg(file: AudioFile) -> Reading:
    """Sum the frames. Raises UnreadableAudio if there are none, or too many other bytes."""
    offset, end = _behind_id3(file), file.size_bytes
    seconds, frames, stray_bytes = 0.0, 0, 0
    in_step = False
    while offset + 4 <= end:
        frame = frame_of(*file.at(offset, 3))
        if frame and (in_step or _is_followed(file, offset + frame[0])):
            offset, seconds, frames, in_step = offset + frame[0], seconds + frame[1], frames + 1, True
            continue
        step = _to_next(file, offset)
        offset, stray_bytes, in_step = offset + step, stray_bytes + step, False
        check_count(frames + stray_bytes // 8)
    check_count(frames)
    if not frames or stray_bytes > max(_STRAY_MAX_BYTES, file.size_bytes // 20):
        raise UnreadableAudio("The file is no MP3 whose frames can be read.")
    return Reading(None, seconds)


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


def _is_followed(file: AudioFile, offset: int) -> bool:
    """Return whether another frame or the end of the file follows: two bytes that look like a header occur by
    chance."""
    head = file.at(offset, 3)
    return len(head) < 3 or head == b"TAG" or frame_of(*head) is not None


def _to_next(file: AudioFile, offset: int) -> int:
    """Return the distance to the next byte that may start a frame."""
    window = file.at(offset, WINDOW_BYTES // 4)
    found = window.find(b"\xff", 1)
    return found if found > 0 else len(window)


def _behind_id3(file: AudioFile) -> int:
    """Skip the tags at the start (ID3v2.4 section 3.1) by their stated size, as players do."""
    offset = 0
    while (head := file.at(offset, 10))[:3] == b"ID3" and len(head) == 10:
        size = sum((byte & 0x7F) << shift for byte, shift in zip(head[6:], (21, 14, 7, 0), strict=True))
        offset += 10 + size + (10 if head[5] & 0x10 else 0)
    return offset
