"""The smallest whole images of each type, and the end of each one's first structure."""

import base64
import struct
import zlib

SIGNATURE = b"\x89PNG\r\n\x1a\n"


def png(width: int = 1, height: int = 1) -> bytes:
    """Return a PNG of gray pixels."""
    header = struct.pack(">II", width, height) + b"\x08\0\0\0\0"
    pixels = zlib.compress((b"\0" + bytes(width)) * height)
    chunks = [(b"IHDR", header), (b"IDAT", pixels), (b"IEND", b"")]
    return SIGNATURE + b"".join(png_chunk(name, data) for name, data in chunks)


def png_chunk(name: bytes, data: bytes) -> bytes:
    """Return a chunk with its checksum."""
    return struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))


def webp(kind: bytes, content: bytes) -> bytes:
    """Return a WebP of one chunk."""
    chunk = kind + struct.pack("<I", len(content)) + content + b"\0" * (len(content) % 2)
    return b"RIFF" + struct.pack("<I", 4 + len(chunk)) + b"WEBP" + chunk


PNG = png()
_JFIF = b"\xff\xe0\x00\x10JFIF\0\x01\x01\0\0\x01\0\x01\0\0"
_FRAME = b"\xff\xc0\x00\x0b\x08\x00\x01\x00\x01\x01\x01\x11\x00"
JPEG = b"\xff\xd8" + _JFIF + _FRAME + b"\xff\xda\x00\x08\x01\x01\0\0\x3f\0\0\xff\xd9"
WEBP = webp(b"VP8L", b"\x2f\0\0\0\x10\x07\x10\x11\x11\x88\x88\xfe\x07")
GIF = b"GIF89a\1\0\1\0\x80\0\0\0\0\0\xff\xff\xff,\0\0\0\0\1\0\1\0\0\2\2D\1\0;"

IMAGES = {"image/png": PNG, "image/jpeg": JPEG, "image/webp": WEBP, "image/gif": GIF}
FIRST_BYTES = {
    "image/png": 33,
    "image/jpeg": 2 + len(_JFIF) + len(_FRAME),
    "image/webp": len(WEBP),
    "image/gif": 13,
}

PNG_URL = f"data:image/png;base64,{base64.b64encode(PNG).decode()}"
