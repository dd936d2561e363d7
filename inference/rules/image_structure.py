"""Checks that the first structure of an image is whole, which states its dimensions. Nothing is decoded.

A file with only a signature is not an image: an upstream may charge for it before it fails to decode it.
"""

import zlib

PNG_SIGNATURE = b"\x89PNG\r\n\x1a\n"
_JPEG_SEGMENTS_MAX = 1_000
_JPEG_FRAMES = frozenset({*range(0xC0, 0xD0)} - {0xC4, 0xC8, 0xCC})
"""The markers of frame headers, SOF0 to SOF15: among them are DHT, JPG and DAC."""
_JPEG_WITHOUT_LENGTH = frozenset({0x01, *range(0xD0, 0xD8)})
"""The markers without a segment before the frame header: TEM and RST0 to RST7."""
_JPEG_LATE = frozenset({0x00, 0xD8, 0xD9, 0xDA})
"""What cannot precede the frame header: a stuffed byte, SOI, EOI and SOS."""
_PNG_DEPTHS = {0: (1, 2, 4, 8, 16), 2: (8, 16), 3: (1, 2, 4, 8), 4: (8, 16), 6: (8, 16)}
"""The bit depths of each color type."""


def whole_png(data: bytes) -> bool:
    """Check the signature and the IHDR chunk with its checksum (PNG, third edition, section 11.2.1)."""
    if len(data) < 33 or not data.startswith(PNG_SIGNATURE + b"\0\0\0\x0dIHDR"):
        return False
    width, height = _big(data[16:20]), _big(data[20:24])
    depth, color, compression, filtering, interlace = data[24:29]
    is_known = depth in _PNG_DEPTHS.get(color, ()) and compression == filtering == 0 and interlace <= 1
    return is_known and 0 < width < 1 << 31 and 0 < height < 1 << 31 and zlib.crc32(data[12:29]) == _big(data[29:33])


def whole_jpeg(data: bytes) -> bool:
    """Check all segments from SOI up to the frame header, and its dimensions (ITU-T T.81 annex B)."""
    at = 2
    for _ in range(_JPEG_SEGMENTS_MAX):
        if data[:2] != b"\xff\xd8" or data[at : at + 1] != b"\xff":
            return False
        marker = data[at + 1 : at + 2]
        if marker == b"\xff":  # a fill byte
            at += 1
        elif not marker or marker[0] in _JPEG_LATE:
            return False
        elif marker[0] in _JPEG_WITHOUT_LENGTH:
            at += 2
        else:
            end = at + 2 + _big(data[at + 2 : at + 4])
            if end < at + 4 or end > len(data):
                return False
            if marker[0] in _JPEG_FRAMES:
                return _is_frame(data[at + 4 : end])
            at = end
    return False


def whole_webp(data: bytes) -> bool:
    """Check the RIFF size, and the first chunk's header with its dimensions (RFC 9649 section 2)."""
    size, kind, chunk = _little(data[4:8]), data[12:16], data[20:30]
    if data[:4] != b"RIFF" or data[8:12] != b"WEBP" or not 12 <= size <= len(data) - 8:
        return False
    if _little(data[16:20]) > size - 12:
        return False
    if kind == b"VP8 ":
        is_key = len(chunk) == 10 and chunk[0] & 1 == 0 and chunk[3:6] == b"\x9d\x01\x2a"
        return is_key and bool(_little(chunk[6:8]) & 0x3FFF and _little(chunk[8:10]) & 0x3FFF)
    if kind == b"VP8L":
        return len(chunk) >= 5 and chunk[0] == 0x2F and chunk[4] >> 5 == 0
    return kind == b"VP8X" and len(chunk) == 10 and _little(data[16:20]) == 10


def whole_gif(data: bytes) -> bool:
    """Check the header and the logical screen descriptor (GIF89a section 18)."""
    is_long = len(data) >= 13 and data.startswith((b"GIF87a", b"GIF89a"))
    return is_long and bool(_little(data[6:8]) and _little(data[8:10]))


def _is_frame(header: bytes) -> bool:
    """Check a frame header: sample precision, dimensions, and three bytes for each component."""
    if len(header) < 6 or header[0] not in (8, 12, 16) or not 1 <= header[5] <= 4:
        return False
    return bool(_big(header[1:3]) and _big(header[3:5])) and len(header) == 6 + 3 * header[5]


def _big(data: bytes) -> int:
    return int.from_bytes(data, "big")


def _little(data: bytes) -> int:
    return int.from_bytes(data, "little")
