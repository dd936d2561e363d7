"""WebM and Matroska with Opus or Vorbis: a bounded walk over the elements (RFC 8794, RFC 9559).

A browser's recorder writes no duration, so the blocks count: their timestamps, and the packets in them.
"""

import struct
from collections.abc import Callable, Iterator

from inference.rules.audio.ogg import vorbis_blocks
from inference.rules.audio.opus import PACKET_MAX_SECONDS, packet_seconds
from inference.rules.audio.source import (
    READ_MAX_BYTES,
    WINDOW_BYTES,
    AudioFile,
    Reading,
    UnreadableAudio,
    check_count,
    check_tracks,
)

_SEGMENT, _INFO, _TRACKS, _TRACK, _AUDIO = 0x18538067, 0x1549A966, 0x1654AE6B, 0xAE, 0xE1
_CLUSTER, _GROUP = 0x1F43B675, 0xA0
_INSIDE = {_SEGMENT, _INFO, _TRACKS, _TRACK, _AUDIO, _CLUSTER, _GROUP}
_SCALE, _DURATION, _NUMBER, _TYPE, _CODEC, _PRIVATE = 0x2AD7B1, 0x4489, 0xD7, 0x83, 0x86, 0x63A2
_ENCODINGS = 0x6D80
_TIME, _SIMPLE_BLOCK, _BLOCK = 0xE7, 0xA3, 0xA1
_CLUSTER_ID = _CLUSTER.to_bytes(4, "big")
_AUDIO_TRACK = 2
_LACING = 0x06
_BLOCK_MIN_BYTES = 6
"""A block of one track below 128, with the two bytes that tell an Opus packet's length."""
_HEAD_BYTES = 12
"""The maximum size of an element's id and size, and enough of a block to measure it."""


class _Walk:
    """The state of a walk."""

    def __init__(self) -> None:
        self.scale_ns = 1_000_000
        self.duration = 0.0
        self.tracks: list[dict[int, bytes]] = []
        self.audio_tracks: dict[int, bytes] = {}
        self.cluster = self.last = 0
        self.packets, self.opus_seconds = 0, 0.0

    def take(self, element: int, file: AudioFile, offset: int, size: int) -> None:
        """Record the content of one element other than a block."""
        if element == _TRACK:
            self.tracks.append({})
            check_tracks(len(self.tracks))
        elif element in (_NUMBER, _TYPE, _CODEC, _PRIVATE, _ENCODINGS) and self.tracks:
            self.tracks[-1][element] = file.at(offset, min(size, 256))
        elif element == _SCALE:
            self.scale_ns = _whole(file.at(offset, min(size, 8)))
        elif element == _DURATION:
            self.duration = _real(file.at(offset, min(size, 8)))
        elif element == _TIME:
            self.cluster = _whole(file.at(offset, min(size, 8)))
        elif element == _CLUSTER:
            self.audio_tracks = self.audio_tracks or _audio_tracks(self.tracks)

    def take_block(self, head: bytes) -> None:
        """Record a block, by its first bytes."""
        number, at = (head[0] & 0x7F, 1) if head and head[0] & 0x80 else _vint(head, 0, keep_marker=False)
        codec = self.audio_tracks.get(number)
        if codec is None or len(head) < at + 3:
            return
        last = self.cluster + int.from_bytes(head[at : at + 2], "big", signed=True)
        if last > self.last:
            self.last = last
        laced = bool(head[at + 2] & _LACING)
        frames = head[at + 3] + 1 if laced and len(head) > at + 3 else 1
        self.packets += frames
        if codec == b"A_OPUS":
            self.opus_seconds += frames * PACKET_MAX_SECONDS if laced else packet_seconds(head[at + 3 : at + 5])

    def take_run(self, window: bytes, at: int, end: int, after: int) -> tuple[int, int]:
        """Record the usual blocks from an offset on that begin before `end` and are over by `after`: they are nearly all elements
        of a file. Return the offset behind them and their number."""
        short = ((0x80 | track, codec == b"A_OPUS") for track, codec in self.audio_tracks.items() if track < 0x80)
        number, is_opus = next(short, (-1, False))
        blocks = 0
        while at + 2 < end and window[at] == _SIMPLE_BLOCK:
            first = window[at + 1]
            if first & 0x80:
                size, begin = first & 0x7F, at + 2
            elif first & 0x40:
                size, begin = (first & 0x3F) << 8 | window[at + 2], at + 3
            else:
                size, begin = _vint(window, at + 1, keep_marker=False)
            if not begin or size < _BLOCK_MIN_BYTES or begin + size > after:
                break
            if window[begin] == number and not window[begin + 3] & _LACING:
                time = window[begin + 1] << 8 | window[begin + 2]
                last = self.cluster + (time if time < 0x8000 else time - 0x10000)
                if last > self.last:
                    self.last = last
                self.packets += 1
                if is_opus:
                    self.opus_seconds += packet_seconds(window[begin + 4 : begin + 6])
            else:
                self.take_block(window[begin : begin + min(size, _HEAD_BYTES)])
            at = begin + size
            blocks += 1
        return at, blocks


def read_webm(file: AudioFile) -> Reading:
    """Walk the file. Raises UnreadableAudio if no track is Opus or Vorbis."""
    walk = _Walk()
    for element, offset, size, head in _elements(file, walk.take_run):
        if element in (_SIMPLE_BLOCK, _BLOCK):
            walk.take_block(head)
        else:
            walk.take(element, file, offset, size)
    if not walk.audio_tracks or not walk.packets:
        raise UnreadableAudio("A WebM file must have one track of Opus or Vorbis with audio in it.")
    [codec] = walk.audio_tracks.values()
    claimed = max(walk.duration, float(walk.last)) * walk.scale_ns / 1e9
    if codec == b"A_OPUS":
        return Reading(claimed or None, walk.opus_seconds)
    shortest, longest = _vorbis_blocks(walk.tracks)
    return Reading(claimed or None, walk.packets * shortest, walk.packets * longest)


def _elements(
    file: AudioFile, take_run: Callable[[bytes, int, int, int], tuple[int, int]]
) -> Iterator[tuple[int, int, int, bytes]]:
    """Yield id, offset, size and first bytes of every element, in order, except for the blocks that `take_run` takes. An element
    of unknown size is descended into.

    Raises UnreadableAudio for an element that ends behind the one that it is in, or behind the file if a cluster follows its
    beginning: some decoders then look for the next cluster.
    """
    offset = count = begin_of_last = 0
    ends: list[int] = []
    while offset < file.size_bytes:
        window = file.at(offset, WINDOW_BYTES)
        at, end = 0, len(window) - (2 * _HEAD_BYTES if len(window) == WINDOW_BYTES else 0)
        while at < end:
            while ends and ends[-1] <= offset + at:
                ends.pop()
            at, blocks = take_run(window, at, end, min([len(window), *(last - offset for last in ends[-1:])]))
            count += blocks + 1
            check_count(count)
            if blocks:
                continue
            element, size, begin = _element(window, at)
            yield element, offset + begin, size, window[begin : begin + min(size, _HEAD_BYTES)]
            begin_of_last, end_of_last = offset + begin, offset + begin + size
            if element not in _INSIDE:
                if ends and ends[-1] < end_of_last <= file.size_bytes:
                    raise UnreadableAudio("The WebM file is damaged.")
            elif size != _unknown_size(element, begin - at):
                ends.append(min([end_of_last, *ends[-1:]]))
            at = begin if element in _INSIDE else begin + size
        offset += at
    if offset > file.size_bytes:
        _refuse_cluster_behind(file, begin_of_last)


def _refuse_cluster_behind(file: AudioFile, offset: int) -> None:
    """Raise UnreadableAudio if a cluster may begin behind an offset."""
    while len(window := file.at(offset, READ_MAX_BYTES)) >= len(_CLUSTER_ID):
        if _CLUSTER_ID in window:
            raise UnreadableAudio("The WebM file is damaged.")
        offset += len(window) - len(_CLUSTER_ID) + 1


def _element(window: bytes, at: int) -> tuple[int, int, int]:
    """Return id, size and content's offset of an element. Raises UnreadableAudio."""
    element, begin = _vint(window, at, keep_marker=True)
    size, begin = _vint(window, begin, keep_marker=False) if begin else (0, 0)
    if not begin:
        raise UnreadableAudio("The WebM file is damaged.")
    return element, size, begin


def _unknown_size(element: int, head_bytes: int) -> int:
    """Return what an unknown size is read as, behind an element's id in a head of this length: all its bits are set."""
    return (1 << 7 * (head_bytes - (element.bit_length() + 7) // 8)) - 1


def _audio_tracks(tracks: list[dict[int, bytes]]) -> dict[int, bytes]:
    """Map the number of the audio track to its codec; exactly one track, with a supported codec, is accepted. One whose packets
    are compressed or encrypted is not."""
    audio = [track for track in tracks if _is_audio(track)]
    if len(audio) != 1 or _ENCODINGS in audio[0]:
        return {}
    found = {_whole(audio[0].get(_NUMBER, b"")): audio[0].get(_CODEC, b"").rstrip(b"\0")}
    return found if set(found.values()) <= {b"A_OPUS", b"A_VORBIS"} else {}


def _is_audio(track: dict[int, bytes]) -> bool:
    return _whole(track.get(_TYPE, b"")) == _AUDIO_TRACK


def _vorbis_blocks(tracks: list[dict[int, bytes]]) -> tuple[float, float]:
    """Return the seconds of the shortest and of the longest packet, by the codec's own header. Raises UnreadableAudio."""
    private = next(track.get(_PRIVATE, b"") for track in tracks if _is_audio(track))
    blocks = vorbis_blocks(private[max(private.find(b"\x01vorbis"), 0) :])
    if blocks is None:
        raise UnreadableAudio("The WebM file's Vorbis header cannot be read.")
    return blocks


def _vint(data: bytes, at: int, *, keep_marker: bool) -> tuple[int, int]:
    """Read a variable-size integer and return it with the offset after it, which is 0 if it is damaged."""
    if at >= len(data) or not data[at]:
        return 0, 0
    length = 9 - data[at].bit_length()
    if at + length > len(data):
        return 0, 0
    value = int.from_bytes(data[at : at + length], "big")
    return (value if keep_marker else value & ((1 << 7 * length) - 1)), at + length


def _whole(data: bytes) -> int:
    return int.from_bytes(data, "big")


def _real(data: bytes) -> float:
    if len(data) not in (4, 8):
        return 0.0
    value = float(struct.unpack(">f" if len(data) == 4 else ">d", data)[0])
    return value if 0 < value < 1e15 else 0.0
