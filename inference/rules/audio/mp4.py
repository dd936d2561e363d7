"""MP4 and M4A: a track's header claims a length, which the sample tables confirm or refute (ISO/IEC 14496-12)."""

import re
from collections.abc import Iterator

from inference.rules.audio.flac import frame_seconds
from inference.rules.audio.source import READ_MAX_BYTES, AudioFile, Reading, UnreadableAudio, check_count, check_tracks

_FRAMES = {b"mp4a": 1024, b"alac": 4096, b"Opus": 960, b".mp3": 1152, b"fLaC": 4096}
"""Samples per frame, by codec."""
_INSIDE = {b"moov", b"trak", b"mdia", b"minf", b"stbl", b"moof", b"traf"}
_ONCE = {b"stsd": b"stsd", b"stsz": b"stsz", b"stz2": b"stsz", b"mdhd": b"mdhd"}
"""The boxes that a track's length follows from. It has one of each; `stz2` is a form of `stsz`."""
_DESCRIBING = {b"hdlr", *_ONCE}
_CONTENT_MAX_BYTES = 64 * 1024
_TABLE = re.compile(rb"[\0\1][\0-\xff]{3}(?:stsd|stsz|stz2|trun|cmov)")
_TABLE_BYTES = 8
"""The size and the type of a table or of compressed boxes, in a file of less than 32 MiB."""


class _Track:
    """The tables' content about one track."""

    def __init__(self) -> None:
        self.is_audio = self.has_several_forms = False
        self.frames = 0
        self.claimed = 0.0
        self.frame_seconds = 0.0
        self.codec, self.hertz = b"", 0
        self._described: set[bytes] = set()

    def check_once(self, kind: bytes) -> None:
        """Raise UnreadableAudio for a second box of this kind: decoders differ in which of them they go by."""
        name = _ONCE.get(kind)
        if name in self._described:
            raise UnreadableAudio("A track of the MP4 file is described twice.")
        if name is not None:
            self._described.add(name)


def read_mp4(file: AudioFile) -> Reading:
    """Count the samples of every audio track, including fragments. Raises UnreadableAudio if there is none."""
    tracks, fragments = list[_Track](), 0
    for counted, (kind, offset, size, is_outside) in enumerate(_boxes(file)):
        check_count(counted)
        if kind == b"trak":
            tracks.append(_Track())
            check_tracks(len(tracks))
        elif kind == b"trun":
            fragments += int.from_bytes(file.at(offset + 4, 4), "big")
        elif tracks and kind in _DESCRIBING:
            tracks[-1].check_once(kind)
            _note(tracks[-1], kind, file.at(offset, min(size, _CONTENT_MAX_BYTES if kind == b"stsd" else 256)))
        if kind not in _INSIDE and not (kind == b"mdat" and is_outside):
            _refuse_hidden(file, kind, offset, size)
    audio_tracks = [track for track in tracks if track.is_audio and track.frame_seconds]
    if not audio_tracks:
        raise UnreadableAudio("The MP4 file has no track of AAC, ALAC, Opus, MP3 or FLAC.")
    if any(track.has_several_forms for track in audio_tracks):
        raise UnreadableAudio("A track of the MP4 file is described twice.")
    least = max(track.frames * track.frame_seconds for track in audio_tracks)
    fragmented = fragments * max(track.frame_seconds for track in audio_tracks) if len(tracks) == 1 else 0.0
    if fragments and not fragmented:
        raise UnreadableAudio("A fragmented MP4 file must have one track.")
    scanned = max((frame_seconds(file, track.hertz) for track in audio_tracks if track.codec == b"fLaC"), default=0.0)
    return Reading(max(track.claimed for track in audio_tracks), max(least + fragmented, scanned))


def _boxes(file: AudioFile) -> Iterator[tuple[bytes, int, int, bool]]:
    """Yield every box in order, containers before their content: its type, offset and size of its content, and whether it is in no
    other box. What follows a box without a valid size is one without a type."""
    offset = end = 0
    while len(head := file.at(offset, 16)) >= 8:
        size, kind, skip = int.from_bytes(head[:4], "big"), head[4:8], 8
        if size == 1 and len(head) == 16:
            size, skip = int.from_bytes(head[8:], "big"), 16
        elif size == 0:
            size = file.size_bytes - offset
        if size < skip:
            yield b"", offset, file.size_bytes - offset, False
            return
        yield kind, offset + skip, size - skip, offset >= end
        if kind in _INSIDE:
            end = max(end, offset + size)
        offset += skip if kind in _INSIDE else size


def _refuse_hidden(file: AudioFile, kind: bytes, offset: int, size: int) -> None:
    """Raise UnreadableAudio for the beginning of a table in a box that should have none, and for compressed boxes: some
    decoders look into more boxes, or end a box where the one around it ends."""
    if kind == b"cmov":
        raise UnreadableAudio("The MP4 file is damaged.")
    end = min(offset + size, file.size_bytes)
    while offset < end:
        window = file.at(offset, min(end - offset, READ_MAX_BYTES))
        if _TABLE.search(window):
            raise UnreadableAudio("The MP4 file is damaged.")
        if offset + len(window) >= end or len(window) < _TABLE_BYTES:
            return
        offset += len(window) - _TABLE_BYTES + 1


def _note(track: _Track, kind: bytes, content: bytes) -> None:
    """Record the content of one box about a track."""
    if kind == b"hdlr":
        track.is_audio = content[8:12] == b"soun"
    elif kind == b"stsd":
        track.has_several_forms = content[4:8] != b"\0\0\0\1" or content.count(b"esds") > 1
        track.codec = content[12:16]
        samples, track.hertz = _frame_of(track.codec, content)
        track.frame_seconds = samples / track.hertz if track.hertz else 0.0
    elif kind in (b"stsz", b"stz2"):
        track.frames = int.from_bytes(content[8:12], "big")
    elif kind == b"mdhd" and content:
        wide = content[0] == 1
        scale = int.from_bytes(content[20:24] if wide else content[12:16], "big")
        length = content[24:32] if wide else content[16:20]
        is_known = bool(scale) and length.strip(b"\xff") != b""
        track.claimed = int.from_bytes(length, "big") / scale if is_known else 0.0


def _frame_of(codec: bytes, content: bytes) -> tuple[int, int]:
    """Return the samples of a frame and their rate. The sample entry's own rate, in 16 bits, is only used for a codec without
    another."""
    samples, hertz = _FRAMES.get(codec, 0), int.from_bytes(content[40:42], "big")
    if codec == b"Opus":
        return samples, 48_000
    if codec == b"alac":
        cookies = [
            content[at + 8 : at + 32] for at in _all(b"alac", content) if at > 12 and content[at - 4 : at] != b"frma"
        ]
        frames = [(int.from_bytes(at[:4], "big"), int.from_bytes(at[20:24], "big")) for at in cookies if len(at) == 24]
        return (max(frames)[0], min(hertz for _, hertz in frames)) if frames else (samples, hertz)
    if codec == b"fLaC":
        infos = [content[at + 12 : at + 25] for at in _all(b"dfLa", content)]
        frames = [
            (int.from_bytes(at[2:4], "big"), int.from_bytes(at[10:], "big") >> 4) for at in infos if len(at) == 13
        ]
        return (max(frames)[0], min(hertz for _, hertz in frames)) if frames else (samples, hertz)
    if codec == b"mp4a":
        return _aac_frame(content, hertz)
    return _mp3_samples(hertz) if codec == b".mp3" else samples, hertz


def _mp3_samples(hertz: int) -> int:
    return 1152 if hertz >= 32_000 else 576


def _all(kind: bytes, content: bytes) -> Iterator[int]:
    """Yield every offset of a box's type in a content."""
    at = content.find(kind)
    while at >= 0:
        yield at
        at = content.find(kind, at + 1)


_AAC_RATES = (96000, 88200, 64000, 48000, 44100, 32000, 24000, 22050, 16000, 12000, 11025, 8000, 7350)
_ESCAPE = 31
_LOW_DELAY = (23, 32 + 7)
"""The kinds AAC-LD and AAC-ELD, whose frames have at most 512 samples."""
_AAC, _MP3 = (0x40, 0x66, 0x67, 0x68), (0x69, 0x6B)
"""The numbers by which a DecoderConfigDescriptor names the codec."""
_DESCRIPTORS_MAX_BYTES = 512
"""More than the descriptors in front of the codec's own have."""


def _aac_frame(content: bytes, entry_hertz: int) -> tuple[int, int]:
    """Return the samples of a frame and their rate as an AAC decoder reads them (ISO/IEC 14496-3 section 1.6.2.1), zeros if they are
    unstated. The sample entry's own rate, which is unreliable, is only used for MP3."""
    found = content.find(b"esds")
    if found < 0:
        return 0, 0
    content = content[found + 8 :] + bytes(_DESCRIPTORS_MAX_BYTES)
    tag, at = _descriptor(content, 0)
    # Without an ES_Descriptor, decoders skip only its number.
    at = _behind_es_fields(content, at) if tag == 3 else at + 2
    tag, at = _descriptor(content, at)
    if tag == 4 and content[at] in _MP3:
        return _mp3_samples(entry_hertz), entry_hertz
    is_aac = tag == 4 and content[at] in _AAC
    tag, at = _descriptor(content, at + 13)
    if not is_aac or tag != 5:
        return 0, 0
    bits = int.from_bytes(content[at : at + 5], "big")
    kind = bits >> 35
    if kind == _ESCAPE:  # six more bits have the kind of audio
        bits = int.from_bytes(content[at : at + 6], "big") >> 2
        kind = 32 + (bits >> 35 & 63)
    index = bits >> 31 & 15
    hertz = bits >> 7 & 0xFFFFFF if index == 15 else _AAC_RATES[index] if index < 13 else 0
    return 512 if kind in _LOW_DELAY else _FRAMES[b"mp4a"], hertz


def _descriptor(content: bytes, at: int) -> tuple[int, int]:
    """Return the tag of a descriptor (ISO/IEC 14496-1 section 8.3.3) and the offset behind its size of at most four bytes."""
    sized = next((count for count in range(1, 4) if not content[at + count] & 0x80), 4)
    return content[at], at + 1 + sized


def _behind_es_fields(content: bytes, at: int) -> int:
    """Return the offset behind the fields of an ES_Descriptor (ISO/IEC 14496-1 section 7.2.6.5), some of which are optional."""
    flags, at = content[at + 2], at + 3
    if flags & 0x80:  # the stream that it depends on
        at += 2
    if flags & 0x40:  # an address
        at += 1 + content[at]
    return at + 2 if flags & 0x20 else at  # a clock
