"""Sound files of every container, made by hand: as encoders write them, or with a header that lies."""

import io
import math
import struct
import wave
from collections.abc import Iterable

from inference.rules.audio.flac import crc8

RATE = 16_000


def wav(seconds: float, *, rate: int = RATE, claims: int | None = None) -> bytes:
    """Make 16-bit mono WAV; `claims` is what the header says of its data's bytes instead."""
    written = io.BytesIO()
    with wave.open(written, "wb") as file:
        file.setnchannels(1)
        file.setsampwidth(2)
        file.setframerate(rate)
        file.writeframes(bytes(2 * round(seconds * rate)))
    data = bytearray(written.getvalue())
    if claims is not None:
        data[40:44] = struct.pack("<I", claims)
    return bytes(data)


def mp3(seconds: float, *, claims_frames: int | None = None, id3_bytes: int = 0) -> bytes:
    """Make MPEG-2 layer III of 24 kHz, 24 ms a frame; `claims_frames` puts a Xing header in front that says so many."""
    frame = b"\xff\xf3\x84\xc4" + bytes(188)
    frames = frame * round(seconds / 0.024)
    if claims_frames is not None:
        xing = b"Xing" + struct.pack(">III", 3, claims_frames, claims_frames * 192)
        frames = (b"\xff\xf3\x84\xc4" + bytes(9) + xing).ljust(192, b"\0") + frames
    if id3_bytes:
        size = bytes(id3_bytes >> shift & 0x7F for shift in (21, 14, 7, 0))
        frames = b"ID3\x04\0\0" + size + bytes(id3_bytes) + frames
    return frames


def flac(
    seconds: float,
    *,
    claims: float | None = None,
    block: int = 4096,
    header_rate: int = RATE,
    frame_rate: tuple[int, bytes] = (5, b""),
) -> bytes:
    """Make FLAC whose frames have heads with right checksums and bodies of zeros; `claims` is the header's length,
    `header_rate` its sampling rate, and `frame_rate` that of the frames: its code, and the number behind the head."""
    total = round((seconds if claims is None else claims) * RATE)
    info = struct.pack(">HH", block, block) + bytes(6)
    info += struct.pack(">Q", header_rate << 44 | 0 << 41 | 15 << 36 | total) + bytes(16)
    head = b"fLaC" + b"\x80" + len(info).to_bytes(3, "big") + info
    frames = range(math.ceil(seconds * RATE / block))
    return head + b"".join(_flac_frame(number, block, *frame_rate) for number in frames)


def _flac_frame(number: int, block: int, rate_code: int, rate: bytes) -> bytes:
    head = bytes([0xFF, 0xF8, 0x70 | rate_code, 8]) + chr(number).encode() + struct.pack(">H", block - 1) + rate
    return head + bytes([crc8(head)]) + bytes(40)


def opus(seconds: float, *, claims: float | None = None) -> bytes:
    """Make Ogg with Opus packets of 20 ms; `claims` is the length that the last page states."""
    packets = round(seconds * 50)
    head = b"OpusHead" + struct.pack("<BBHIhB", 1, 1, 0, 48000, 0, 0)
    pages = [_page([head], 2, 0, 0), _page([b"OpusTags" + bytes(8)], 0, 0, 1)]
    for at in range(0, packets, 50):
        count = min(50, packets - at)
        granule = round((claims if claims is not None else (at + count) / 50) * 48000)
        pages.append(_page([b"\x08" + bytes(30)] * count, 0, granule, len(pages)))
    return b"".join(pages)


VORBIS_HEAD = b"\x01vorbis" + struct.pack("<IBIiiiB", 0, 1, 48000, 0, 64000, 0, 0xB8) + b"\x01"


def vorbis(packets: int, *, granule: int) -> bytes:
    """Make Ogg with Vorbis packets, of which each lasts 128 to 1024 samples at 48 kHz."""
    head = VORBIS_HEAD
    pages = [_page([head], 2, 0, 0), _page([b"\x03vorbis" + bytes(9), b"\x05vorbis" + bytes(9)], 0, 0, 1)]
    for at in range(0, packets, 50):
        pages.append(_page([b"\x02" + bytes(40)] * min(50, packets - at), 0, granule, len(pages)))
    return b"".join(pages)


def _page(packets: Iterable[bytes], flags: int, granule: int, sequence: int) -> bytes:
    packets = list(packets)
    sizes = bytes(size for packet in packets for size in [*[255] * (len(packet) // 255), len(packet) % 255])
    head = struct.pack("<4sBBqIIIB", b"OggS", 0, flags, granule, 7, sequence, 0, len(sizes))
    return head + sizes + b"".join(packets)


def m4a(
    seconds: float,
    *,
    claims: float | None = None,
    fragmented: bool = False,
    codec: bytes = b"mp4a",
    entry_rate: int = RATE,
) -> bytes:
    """Make MP4 with AAC frames of 1024 samples; `claims` is the length that both headers state, `entry_rate` what the
    table says of the sampling rate, by which no decoder goes."""
    frames = math.ceil(seconds * RATE / 1024)
    stated = round((seconds if claims is None else claims) * 1000)
    stated = 0 if fragmented else stated
    entry = _box(codec, bytes(6) + b"\0\1" + bytes(8) + struct.pack(">HHHHI", 1, 16, 0, 0, entry_rate << 16) + _ESDS)
    tables = _box(b"stsd", bytes(4) + b"\0\0\0\1" + entry)
    tables += _box(b"stsz", bytes(4) + struct.pack(">II", 50, 0 if fragmented else frames))
    media = _box(b"mdhd", bytes(12) + struct.pack(">II", 1000, stated) + bytes(4))
    media += _box(b"hdlr", bytes(8) + b"soun" + bytes(13)) + _box(b"minf", _box(b"stbl", tables))
    movie = _box(b"mvhd", bytes(12) + struct.pack(">II", 1000, stated) + bytes(80))
    whole = _box(b"ftyp", b"M4A \0\0\0\0") + _box(b"moov", movie + _box(b"trak", _box(b"mdia", media)))
    if fragmented:
        run = _box(b"traf", _box(b"tfhd", bytes(8)) + _box(b"trun", bytes(4) + struct.pack(">I", frames)))
        whole += _box(b"moof", _box(b"mfhd", bytes(8)) + run)
    return whole + _box(b"mdat", bytes(50 * frames))


_ESDS = b"\0\0\0\x27esds\0\0\0\0\x03\x19\0\0\0\x04\x11\x40\x15" + bytes(11) + b"\x05\x02\x14\x08\x06\x01\x02"
"""AAC-LC of 16 kHz and one channel."""


def _box(kind: bytes, content: bytes) -> bytes:
    return struct.pack(">I", 8 + len(content)) + kind + content


def webm(
    seconds: float, *, claims: float | None = None, codec: bytes = b"A_OPUS", stamps: bool = True, private: bytes = b""
) -> bytes:
    """Make WebM as a browser's recorder does, with blocks of 20 ms: sizes unknown, and no duration unless it `claims`
    one. Without `stamps` all blocks are of the first moment."""
    info = _element(0x2AD7B1, (1_000_000).to_bytes(3, "big"))
    if claims is not None:
        info += _element(0x4489, struct.pack(">d", claims * 1000))
    audio = _element(0xB5, struct.pack(">d", 48000.0))
    track = _element(0xD7, b"\1") + _element(0x83, b"\2") + _element(0x86, codec) + _element(0xE1, audio)
    track += _element(0x63A2, private)
    tracks = _element(0x1654AE6B, _element(0xAE, track))
    clusters = []
    for at in range(0, round(seconds * 50), 50):
        count = min(50, round(seconds * 50) - at)
        blocks = [
            _element(0xA3, b"\x81" + struct.pack(">h", 20 * index if stamps else 0) + b"\x80\x08" + bytes(30))
            for index in range(count)
        ]
        clusters.append(_open(0x1F43B675) + _element(0xE7, (20 * at if stamps else 0).to_bytes(4, "big")))
        clusters.extend(blocks)
    head = _element(0x1A45DFA3, _element(0x4282, b"webm"))
    return head + _open(0x18538067) + _element(0x1549A966, info) + tracks + b"".join(clusters)


def _element(number: int, content: bytes) -> bytes:
    return _id(number) + (len(content) | 1 << 28).to_bytes(4, "big") + content


def _open(number: int) -> bytes:
    return _id(number) + b"\x01" + b"\xff" * 7


def _id(number: int) -> bytes:
    return number.to_bytes((number.bit_length() + 7) // 8, "big")
