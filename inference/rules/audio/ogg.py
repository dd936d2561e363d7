"""Ogg with Opus or Vorbis: the last page claims a length, which the packets confirm or refute (RFC 3533, RFC 7845)."""

import zlib
from collections.abc import Iterator

from inference.rules.audio.opus import packet_seconds
from inference.rules.audio.source import READ_MAX_BYTES, AudioFile, Reading, UnreadableAudio, check_count, check_tracks

_PAGE_BYTES = 27
_PAGE_MAX_BYTES = _PAGE_BYTES + 255 + 255 * 255
_CAPTURE = b"OggS"
_GAPS_MAX = 1000
_HEADS = (b"OpusHead", b"\x01vorbis")
_OTHER_AUDIO = (b"\x7fFLAC", b"fLaC\0", b"Speex   ", b"CELT    ", b"\x01audio\0\0\0", b"\x01Direct Show")
"""The first packets of other audio codecs."""
_REVERSED = bytes(int(f"{byte:08b}"[::-1], 2) for byte in range(256))


class _Track:
    """The packets of one logical stream: their number and their total length."""

    def __init__(self, head: bytes) -> None:
        self.is_opus = head.startswith(b"OpusHead")
        self._blocks = vorbis_blocks(head)
        self.is_vorbis = self._blocks is not None
        self.packets, self.seconds = 0, 0.0
        self.granule = 0
        self._rate = int.from_bytes(head[12:16], "little") if self.is_vorbis else 48_000
        self._before = int.from_bytes(head[10:12], "little") if self.is_opus else 0

    def add(self, head: bytes) -> None:
        """Count one more packet by its first two bytes; a codec's headers add no length."""
        self.packets += 1
        if self.is_opus and not head.startswith(b"Op"):
            self.seconds += packet_seconds(head)

    @property
    def claimed(self) -> float:
        """Return the seconds at which the last page ends."""
        return max(self.granule - self._before, 0) / self._rate if self._rate else 0.0

    @property
    def range(self) -> tuple[float, float]:
        """Return the minimum and maximum length of the packets in seconds."""
        if self._blocks is None:
            return self.seconds, self.seconds
        sounding = max(self.packets - 3, 0)
        return sounding * self._blocks[0], sounding * self._blocks[1]


def vorbis_blocks(head: bytes) -> tuple[float, float] | None:
    """Return the seconds that the shortest and the longest packet add, from a Vorbis identification header (Vorbis I
    section 4.2.2); None for anything else."""
    rate = int.from_bytes(head[12:16], "little")
    if not head.startswith(b"\x01vorbis") or len(head) < 30 or not rate:
        return None
    return (1 << (head[28] & 15)) / 2 / rate, (1 << (head[28] >> 4)) / 2 / rate


def read_ogg(file: AudioFile) -> Reading:
    """Walk the pages. Raises UnreadableAudio if no track is Opus or Vorbis."""
    tracks, current = list[_Track](), dict[bytes, _Track]()
    packets = 0
    for page, sizes, content in _pages(file):
        packets += len(sizes) + 1
        check_count(packets)
        _add_page(tracks, current, page, sizes, content)
        check_tracks(len(tracks))
    audio_tracks = [track for track in tracks if track.is_opus or track.is_vorbis]
    if not audio_tracks:
        raise UnreadableAudio("An Ogg file must hold Opus or Vorbis.")
    least, most = (sum(ends) for ends in zip(*(track.range for track in audio_tracks), strict=True))
    return Reading(sum(track.claimed for track in audio_tracks), least, most)


def _pages(file: AudioFile) -> Iterator[tuple[bytes, bytes, bytes]]:
    """Yield the header, the sizes and the content of every page; the last one's content may be cut off.

    Like decoders, this looks for the next page behind what is none. Raises UnreadableAudio if it has to do so too often.
    """
    offset = gaps = 0
    while len(window := file.at(offset, READ_MAX_BYTES)) >= _PAGE_BYTES:
        at, end = 0, len(window) - (_PAGE_BYTES if len(window) < READ_MAX_BYTES else _PAGE_MAX_BYTES)
        while at <= end:
            page = window[at : at + _PAGE_BYTES]
            begin = at + _PAGE_BYTES + page[26]
            sizes = window[at + _PAGE_BYTES : begin]
            after = begin + sum(sizes)
            if _is_page(window[at:after]):
                at = after
                yield page, sizes, window[begin:after]
            elif gaps == _GAPS_MAX:
                raise UnreadableAudio("The Ogg file is damaged.")
            else:
                gaps += 1
                found = window.find(_CAPTURE, at + 1)
                at = found if found > 0 else max(at + 1, len(window) - len(_CAPTURE) + 1)
        offset += at


def _is_page(data: bytes) -> bool:
    """Return whether this is a page. The checksum is only looked at if another page may begin within it: a decoder drops a page
    with a wrong one, and would find the other."""
    return data.startswith(_CAPTURE) and (_CAPTURE not in data[4:] or _has_checksum(data))


def _has_checksum(page: bytes) -> bool:
    """Return whether a page's checksum is right (RFC 3533 section 6). It is zlib's with the bits of each byte, and of the
    result, in reverse, and without its inversions."""
    data = page[:22] + bytes(4) + page[26:]
    reverse = zlib.crc32(data.translate(_REVERSED), 0xFFFFFFFF) ^ 0xFFFFFFFF
    return int(f"{reverse:032b}"[::-1], 2) == int.from_bytes(page[22:26], "little")


def _add_page(tracks: list[_Track], current: dict[bytes, _Track], page: bytes, sizes: bytes, content: bytes) -> None:
    """Add every packet that starts on a page to its track. A codec's header on a first page begins another track, also where
    one of the same serial number came before. Raises UnreadableAudio for the header of another codec."""
    serial, begins, at = page[14:18], not page[5] & 1, 0
    track = current.get(serial)
    if content.startswith(_OTHER_AUDIO):
        raise UnreadableAudio("An Ogg file must hold Opus or Vorbis.")
    if track is not None and page[5] & 2 and content.startswith(_HEADS):
        track = None
    for size in sizes:
        if begins:
            if track is None:
                track = current[serial] = _Track(content[at : at + min(size, 30)])
                tracks.append(track)
            track.add(content[at : at + min(size, 2)])
        begins = size < 255
        at += size
    granule = int.from_bytes(page[6:14], "little", signed=True)
    if track is not None and granule >= 0:
        track.granule = granule
