"""Draws a pattern of colored squares for a text as a PNG (ISO/IEC 15948), without a model or an image library."""

import hashlib
import struct
import zlib
from collections.abc import Iterator

GRID = 8
COLOURS = 4
SOFTWARE = b"Software\0Account Gateway demo, without a model"

_SIGNATURE = b"\x89PNG\r\n\x1a\n"
_PALETTE_OF_8_BITS = b"\x08\x03\0\0\0"  # bit depth, indexed colour, deflate, adaptive filters, not interlaced


def draw(text: str, width: int, height: int, *, rows: int = GRID) -> bytes:
    """Return a PNG of this size, always the same for the same text. Rows of the 8-row grid after `rows` are empty."""
    digest = hashlib.sha256(text.encode()).digest()
    header = struct.pack(">II", width, height) + _PALETTE_OF_8_BITS
    chunks = [(b"IHDR", header), (b"tEXt", SOFTWARE), (b"PLTE", _palette(digest))]
    chunks += [(b"IDAT", zlib.compress(b"".join(_lines(digest, width, height, rows)), 1)), (b"IEND", b"")]
    return _SIGNATURE + b"".join(_chunk(name, data) for name, data in chunks)


def _palette(digest: bytes) -> bytes:
    """Return the colors: a light background, and others that depend on the text."""
    return b"\xf4\xf1\xea" + bytes(64 + byte // 2 for byte in digest[: 3 * (COLOURS - 1)])


def _lines(digest: bytes, width: int, height: int, rows: int) -> Iterator[bytes]:
    """Yield the pixels by rows of the grid. The right half mirrors the left."""
    for row in range(GRID):
        count = height * (row + 1) // GRID - height * row // GRID
        yield (b"\0" + (_line(digest, row, width) if row < rows else bytes(width))) * count


def _line(digest: bytes, row: int, width: int) -> bytes:
    half = GRID // 2
    left = [digest[(row * half + column) % len(digest)] % COLOURS for column in range(half)]
    colours = left + left[::-1]
    edges = [width * column // GRID for column in range(GRID + 1)]
    return b"".join(bytes([colours[at]]) * (edges[at + 1] - edges[at]) for at in range(GRID))


def _chunk(name: bytes, data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))
