"""MP4 and M4A: a track's header claims a length, which the sample tables confirm or refute (ISO/IEC 14496-12)."""

from collections.abc import Iterator

from inference.rules.audio.reading import Reading, UnreadableAudio, check_count, check_tracks
from inference.rules.audio.source import AudioFile

_FRAMES = {b"mp4a": 1024, b"alac": 4096, b"Opus": 960, b".mp3": 1152, b"fLaC": 4096}
"""Samples per frame, by codec."""
_INSIDE = {b"moov", b"trak", b"mdia", b"minf", b"stbl", b"moof", b"traf"}
_ONCE = {b"stsd": b"stsd", b"stsz": b"stsz", b"stz2": b"stsz", b"mdhd": b"mdhd"}
"""The boxes that a track's length follows from. It has one of each; `stz2` is a form of `stsz`."""
_DESCRIBING = {b"hdlr", *_ONCE}


class _Track:
    """The tables' content about one track."""

    def __init__(self) -> None:
        self.is_sound = False
        self.frames = 0
        self.claimed = 0.0
        self.frame_seconds = 0.0
        self.codec = b""
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
    for counted, (kind, offset, size) in enumerate(_boxes(file)):
        check_count(counted)
        if kind == b"trak":
            tracks.append(_Track())
            check_tracks(len(tracks))
        elif kind == b"trun":
            fragments += int.from_bytes(file.at(offset + 4, 4), "big")
        elif tracks and kind in _DESCRIBING:
            tracks[-1].check_once(kind)
            _note(tracks[-1], kind, file.at(offset, min(size, 256)))
    sounds = [track for track in tracks if track.is_sound and track.frame_seconds]
    if not sounds:
        raise UnreadableAudio("The MP4 file has no track of AAC, ALAC, Opus, MP3 or FLAC.")
    least = max(track.frames * track.frame_seconds for track in sounds)
    fragmented = fragments * max(track.frame_seconds for track in sounds) if len(tracks) == 1 else 0.0
    if fragments and not fragmented:
        raise UnreadableAudio("A fragmented MP4 file must have one track.")
    return Reading(max(track.claimed for track in sounds), least + fragmented)


def _boxes(file: AudioFile) -> Iterator[tuple[bytes, int, int]]:
    """Yield type, offset and size of the content of every box, in order, containers before their content."""
    offset = 0
    while len(head := file.at(offset, 16)) >= 8:
        size, kind, skip = int.from_bytes(head[:4], "big"), head[4:8], 8
        if size == 1 and len(head) == 16:
            size, skip = int.from_bytes(head[8:], "big"), 16
        elif size == 0:
            size = file.size_bytes - offset
        if size < skip:
            return
        yield kind, offset + skip, size - skip
        offset += skip if kind in _INSIDE else size


def _note(track: _Track, kind: bytes, content: bytes) -> None:
    """Record the content of one box about a track."""
    if kind == b"hdlr":
        track.is_sound = content[8:12] == b"soun"
    elif kind == b"stsd":
        track.codec = content[12:16]
        rate = _aac_rate(content) or int.from_bytes(content[40:42], "big")
        track.frame_seconds = _FRAMES.get(track.codec, 0) / rate if rate else 0.0
    elif kind in (b"stsz", b"stz2"):
        track.frames = int.from_bytes(content[8:12], "big")
    elif kind == b"mdhd" and content:
        wide = content[0] == 1
        scale = int.from_bytes(content[20:24] if wide else content[12:16], "big")
        length = content[24:32] if wide else content[16:20]
        is_known = bool(scale) and length.strip(b"\xff") != b""
        track.claimed = int.from_bytes(length, "big") / scale if is_known else 0.0


_AAC_RATES = (96000, 88200, 64000, 48000, 44100, 32000, 24000, 22050, 16000, 12000, 11025, 8000, 7350)
_DESCRIPTORS = {3: 3, 4: 13}
"""Descriptors that contain others, with the size of their own fields: ES_Descriptor and DecoderConfigDescriptor."""


def _aac_rate(content: bytes) -> int:
    """Return the sampling rate that an AAC decoder uses (ISO/IEC 14496-3 section 1.6.2.1), 0 if unstated. The sample
    entry's own rate is unreliable."""
    found = content.find(b"esds")
    at = found + 8
    while found >= 0 and at + 2 < len(content):
        tag, at = content[at], at + 1
        while at < len(content) and content[at] & 0x80:
            at += 1
        at += 1
        if tag == 5:
            told = int.from_bytes(content[at : at + 5].ljust(5, b"\0"), "big")
            index = told >> 31 & 15
            return told >> 7 & 0xFFFFFF if index == 15 else _AAC_RATES[index] if index < 13 else 0
        at += _DESCRIPTORS.get(tag, len(content))
    return 0
