"""The first structure of an image: whole, or the image is refused."""

import struct
from contextlib import suppress

import pytest

from gateway.core.contract.errors import ImageRejected
from inference.rules.images import CHAT_TYPES, read_image
from tests.factories.images import FIRST_BYTES, GIF, IMAGES, JPEG, PNG, SIGNATURE, WEBP, png, png_chunk, webp


def type_of(data: bytes) -> str | None:
    with suppress(ImageRejected):
        return read_image(data, CHAT_TYPES, "p").media_type
    return None


@pytest.mark.parametrize("media_type", IMAGES)
def test_cut_at_any_byte_is_refused(media_type: str) -> None:
    data, first = IMAGES[media_type], FIRST_BYTES[media_type]
    assert [type_of(data[:end]) for end in range(first)] == [None] * first
    assert type_of(data[:first]) == type_of(data) == media_type


VP8 = b"\x30\x01\0\x9d\x01\x2a\x01\0\x01\0" + bytes(20)
THUMBNAIL = b"\xff\xe1" + struct.pack(">H", 2 + len(JPEG)) + JPEG


@pytest.mark.parametrize(
    ("data", "media_type"),
    [
        (webp(b"VP8 ", VP8), "image/webp"),
        (webp(b"VP8X", bytes(10)), "image/webp"),
        (WEBP + b"trailing", "image/webp"),
        (JPEG[:2] + THUMBNAIL + JPEG[2:], "image/jpeg"),
        (JPEG[:2] + b"\xff\xff\xff" + JPEG[2:], "image/jpeg"),
        (JPEG[:2] + b"\xff\x01" + JPEG[2:].replace(b"\xff\xc0", b"\xff\xc2"), "image/jpeg"),
        (png(3000, 2), "image/png"),
        (GIF.replace(b"89a", b"87a"), "image/gif"),
    ],
)
def test_whole(data: bytes, media_type: str) -> None:
    assert type_of(data) == media_type


def ihdr(header: bytes) -> bytes:
    return SIGNATURE + png_chunk(b"IHDR", header) + PNG[33:]


@pytest.mark.parametrize(
    "data",
    [
        SIGNATURE,
        PNG[:29] + b"\0\0\0\0" + PNG[33:],
        ihdr(struct.pack(">II", 0, 1) + b"\x08\0\0\0\0"),
        ihdr(struct.pack(">II", 1, 1 << 31) + b"\x08\0\0\0\0"),
        ihdr(struct.pack(">II", 1, 1) + b"\x03\0\0\0\0"),
        ihdr(struct.pack(">II", 1, 1) + b"\x08\1\0\0\0"),
        ihdr(struct.pack(">II", 1, 1) + b"\x08\0\0\0\2"),
        SIGNATURE + png_chunk(b"IDAT", bytes(13)) + PNG[8:],
        SIGNATURE + png_chunk(b"IHDR", bytes(14)),
        JPEG.replace(b"\x08\x00\x01\x00\x01", b"\x08\x00\x00\x00\x01"),
        JPEG.replace(b"\x08\x00\x01\x00\x01", b"\x08\x00\x01\x00\x00"),
        JPEG.replace(b"\xff\xc0", b"\xff\xc4"),
        JPEG.replace(b"\xff\xc0\x00\x0b", b"\xff\xc0\x00\x0c"),
        JPEG[:2] + JPEG[-16:],
        JPEG[:2] + b"\xff\xd8" + JPEG[2:],
        JPEG[:2] + b"\0" + JPEG[2:],
        JPEG[:2] + b"\xff\xe0\0\1" + JPEG[2:],
        JPEG[:2] + b"\xff\xe0\0\2" * 1_000_000,
        JPEG[:2] + b"\xff" * 4_000_000,
        webp(b"VP8 ", b"\x31" + VP8[1:]),
        webp(b"VP8 ", VP8[:3] + b"\0\0\0" + VP8[6:]),
        webp(b"VP8 ", VP8[:6] + bytes(24)),
        webp(b"VP8L", b"\x2e" + bytes(10)),
        webp(b"VP8L", b"\x2f\0\0\0\xff" + bytes(10)),
        webp(b"VP8X", bytes(9)),
        webp(b"EXIF", bytes(20)),
        WEBP[:16] + b"\xff\xff" + WEBP[18:],
        GIF[:6] + b"\0\0" + GIF[8:],
        GIF[:8] + b"\0\0" + GIF[10:],
    ],
)
def test_a_structure_that_no_decoder_reads_is_refused(data: bytes) -> None:
    assert type_of(data) is None
