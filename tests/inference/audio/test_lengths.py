"""The length of a sound file: what an honest one states, and what a lying one really holds."""

import math
import os
import random
import struct
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import pytest

from inference.rules.audio import source
from inference.rules.audio.length import AudioLength, read_length
from inference.rules.audio.opus import packet_seconds
from inference.rules.audio.source import CPU_SECONDS_MAX, READ_MAX_BYTES, READS_MAX, UnreadableAudio
from tests.factories import audio
from tests.support.calls import calls_during


@dataclass
class Stored:
    """Bytes that count what is read of them."""

    data: bytes
    largest_read: int = 0
    reads: int = 0

    @property
    def size_bytes(self) -> int:
        """Return their number."""
        return len(self.data)

    def read_at(self, offset: int, size_bytes: int) -> bytes:
        """Read."""
        assert 0 <= offset < len(self.data)
        self.reads += 1
        self.largest_read = max(self.largest_read, size_bytes)
        return self.data[offset : offset + size_bytes]


def stopped() -> float:
    """A clock that stands still."""
    return 0.0


def length_of(data: bytes) -> AudioLength:
    return read_length(Stored(data), stopped)


HONEST: dict[str, Callable[[float], bytes]] = {
    "wav": audio.wav,
    "mp3": audio.mp3,
    "flac": audio.flac,
    "ogg": audio.opus,
    "m4a": audio.m4a,
    "webm": audio.webm,
}


@pytest.mark.parametrize("container", HONEST)
@pytest.mark.parametrize("seconds", [0.48, 2.4, 61.4])
def test_an_honest_file_has_its_own_length_rounded_up(container: str, seconds: float) -> None:
    assert length_of(HONEST[container](seconds)) == AudioLength(container, math.ceil(seconds))


@pytest.mark.parametrize(
    "data",
    [
        audio.wav(60, claims=2),
        audio.wav(60, claims=0),
        audio.flac(60, claims=1),
        audio.flac(60, claims=0),
        audio.opus(60, claims=1),
        audio.opus(60, claims=0),
        audio.m4a(60, claims=1),
        audio.m4a(60, claims=0),
        audio.m4a(60, fragmented=True),
        audio.m4a(60, claims=8, entry_rate=65_535),
        audio.webm(60, claims=1, stamps=False),
        audio.webm(60, stamps=False),
        audio.mp3(60, claims_frames=10),
    ],
)
def test_a_claim_that_is_shorter_than_the_frames_is_not_believed(data: bytes) -> None:
    assert length_of(data).seconds in (60, 61)


@pytest.mark.parametrize("frame_rate", [(5, b""), (12, b"\x10"), (13, b"\x3e\x80"), (14, b"\x06\x40")])
def test_a_higher_rate_in_the_header_than_in_the_frames_is_not_believed(frame_rate: tuple[int, bytes]) -> None:
    lying = length_of(audio.flac(60, header_rate=655_350, frame_rate=frame_rate))
    assert lying.seconds in ((60, 61))


@pytest.mark.parametrize("frame_rate", [(0, b""), (10, b""), (13, b"\0\0"), (15, b"")])
def test_the_headers_rate_counts_where_the_frames_state_none_or_a_higher_one(frame_rate: tuple[int, bytes]) -> None:
    assert length_of(audio.flac(60, frame_rate=frame_rate)).seconds in (60, 61)


@pytest.mark.parametrize("claims", [0xFFFFFFFF, 0x7FFFFFFF])
def test_a_recorder_that_cannot_go_back_leaves_the_wav_header_open(claims: int) -> None:
    assert length_of(audio.wav(5.5, claims=claims)).seconds == 6


def test_a_cover_in_front_of_an_mp3_is_not_audio() -> None:
    assert length_of(audio.mp3(4.8, id3_bytes=300_000)) == AudioLength("mp3", 5)


def tag(size_bytes: int, *, version: int = 4, bit: int = 0) -> bytes:
    return b"ID3" + bytes([version, 0, 0, *(size_bytes >> shift & 0x7F | bit for shift in (21, 14, 7, 0))])


@pytest.mark.parametrize("damage", [{"version": 0xFF}, {"bit": 0x80}])
def test_a_damaged_tag_hides_no_audio(damage: dict[str, int]) -> None:
    hidden = audio.mp3(60)
    assert length_of(tag(len(hidden)) + hidden + audio.mp3(1)).seconds == 2
    with pytest.raises(UnreadableAudio, match="damaged tag"):
        length_of(tag(len(hidden), **damage) + hidden + audio.mp3(1))


@pytest.mark.parametrize("other", [audio.flac(60), audio.opus(60), b"\xff\xf1\x6c\x40\x01\x7f\xfc" * 500])
def test_another_container_behind_a_tag_is_no_mp3(other: bytes) -> None:
    with pytest.raises(UnreadableAudio, match="MP3"):
        length_of(tag(0) + other[:60_000] + audio.mp3(2))


def test_a_tag_behind_the_first_frames_hides_no_other_container() -> None:
    frame = b"\xff\xe3\x18\xc4" + bytes(68)
    other = b"\xff\xf1\x6c\x40\x00\xff\xfc" * 8000  # AAC, a quarter of an hour for ffmpeg
    assert length_of(frame * 2 + b"TAG" + bytes(125)).seconds == 1
    with pytest.raises(UnreadableAudio, match="MP3"):
        length_of(frame * 2 + b"TAG" + other)


def test_frames_of_several_kinds_at_the_beginning_are_refused() -> None:
    other = b"\xff\xfb\xe0\x00" + bytes(1040)
    with pytest.raises(UnreadableAudio, match="one kind"):
        length_of(other + audio.mp3(60))
    assert length_of(audio.mp3(1) + other * 40).seconds in (2, 3)


def test_mp3_frames_between_other_bytes_count_as_decoders_find_them() -> None:
    frame = b"\xff\xe3\x18\xc4" + bytes(68)  # 72 ms
    assert length_of(frame * 10 + (b"\0" + frame) * 800).seconds == math.ceil(810 * 0.072)


def test_vorbis_is_believed_between_its_shortest_and_its_longest_blocks() -> None:
    assert length_of(audio.vorbis(1000, granule=480_000)).seconds == 10
    lying = length_of(audio.vorbis(1000, granule=48))
    assert lying.seconds == math.ceil(1000 * 1024 / 48000)
    private = b"\x02\x1e\x10" + audio.VORBIS_HEAD
    assert length_of(audio.webm(20, codec=b"A_VORBIS", private=private)) == AudioLength("webm", 20)
    lying = length_of(audio.webm(20, codec=b"A_VORBIS", private=private, stamps=False))
    assert lying.seconds == math.ceil(1000 * 1024 / 48000)


def test_chained_ogg_streams_of_one_number_count_by_their_own_heads() -> None:
    short = audio.vorbis(1000, granule=480_000)
    slow = bytes([*short]).replace((48_000).to_bytes(4, "little"), (8_000).to_bytes(4, "little"))
    assert length_of(slow).seconds == 60
    assert length_of(short + slow).seconds == 70
    assert length_of(audio.opus(20) + audio.opus(30)).seconds in (50, 51)


@pytest.mark.parametrize("head", [b"\x7fFLAC", b"Speex   "])
def test_an_ogg_file_with_audio_of_another_codec_is_refused(head: bytes) -> None:
    page = b"OggS\0\2" + bytes(8) + b"\x09\0\0\0" + bytes(8) + b"\1\x1e" + head.ljust(30, b"\0")
    with pytest.raises(UnreadableAudio, match="Opus or Vorbis"):
        length_of(page + audio.opus(5))


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"\xff",
        b"no sound at all, but long enough to be one",
        b"RIFF\0\0\0\0WAVE",
        b"fLaC" + bytes(100),
        b"OggS" + bytes(100),
        b"\0\0\0\x08ftyp" + bytes(100),
        b"\x1a\x45\xdf\xa3" + bytes(100),
        b"ID3\x04\0\0\x7f\x7f\x7f\x7f" + bytes(1000),
        audio.mp3(1) + random.Random(1).randbytes(200_000),
        audio.wav(0),
        audio.m4a(2, codec=b"zzzz"),
        audio.webm(2, codec=b"A_AC3"),
        audio.webm(2, codec=b"A_VORBIS"),
        audio.m4a(2, claims=4_000_000),
        audio.wav(1)[:20] + b"\x55\0" + audio.wav(1)[22:],
    ],
)
def test_what_cannot_be_read_is_refused(data: bytes) -> None:
    with pytest.raises(UnreadableAudio):
        length_of(data)


@pytest.mark.parametrize("junk", [b"x", b"OggS", b"x" * 300_000, b"Og" + b"x" * (256 * 1024 - 2)])
def test_ogg_pages_behind_what_is_no_page_count_as_decoders_find_them(junk: bytes) -> None:
    data = audio.opus(30)
    assert length_of(audio.opus(5) + junk + data).seconds in (35, 36)


def test_webm_clusters_behind_an_element_that_passes_the_files_end_are_not_overlooked() -> None:
    data = audio.webm(30)
    cluster = data.index(b"\x1f\x43\xb6\x75")
    endless = b"\xec" + b"\x08\xff\xff\xff\xff"
    with pytest.raises(UnreadableAudio, match="damaged"):
        length_of(audio.webm(1) + endless + b"x" * 100_000 + data[cluster:])
    assert length_of(audio.webm(30) + endless + b"x" * 100_000).seconds == 30
    assert length_of(data[:-20]).seconds == 30


@pytest.mark.parametrize("size", [b"\x84", b"\xff", b"\x40\x7f"])
def test_webm_clusters_in_an_element_that_passes_its_parents_end_are_not_overlooked(size: bytes) -> None:
    data = audio.webm(30)
    hidden = data[data.index(b"\x1f\x43\xb6\x75") :]
    swallowing = b"\xec" + (len(hidden) | 1 << 56).to_bytes(8, "big") + hidden
    file = audio.webm(1) + b"\x1f\x43\xb6\x75" + size + swallowing
    if size == b"\xff":  # unknown, so the parent goes on
        assert length_of(file).seconds == 1
    else:
        with pytest.raises(UnreadableAudio, match="damaged"):
            length_of(file)


def element(number: bytes, content: bytes) -> bytes:
    return number + (len(content) | 1 << 28).to_bytes(4, "big") + content


@pytest.mark.parametrize(
    "more",
    [
        element(b"\x6d\x80", element(b"\x62\x40", element(b"\x50\x34", element(b"\x42\x54", b"\3")))),
        element(b"\xae", element(b"\xd7", b"\1") + element(b"\x83", b"\2") + element(b"\x86", b"A_OPUS")),
    ],
)
def test_a_webm_track_with_compressed_packets_or_beside_another_is_refused(more: bytes) -> None:
    track = element(b"\xd7", b"\1") + element(b"\x83", b"\2") + element(b"\x86", b"A_OPUS")
    data = audio.webm(2)
    tracks, clusters = data.index(b"\x16\x54\xae\x6b"), data.index(b"\x1f\x43\xb6\x75")

    def length(content: bytes) -> AudioLength:
        head = data[:tracks] + element(b"\x16\x54\xae\x6b", content)
        return length_of(head + data[clusters:])

    assert length(element(b"\xae", track)).seconds == 2
    with pytest.raises(UnreadableAudio, match="one track"):
        length(element(b"\xae", track + more) if more[0] == 0x6D else element(b"\xae", track) + more)


def checked(page: bytes) -> bytes:
    """Return an Ogg page with its checksum (RFC 3533 section 6)."""
    value = 0
    for byte in page[:22] + bytes(4) + page[26:]:
        value ^= byte << 24
        for _ in range(8):
            value = value << 1 ^ (0x104C11DB7 if value >> 31 else 0)
    return page[:22] + value.to_bytes(4, "little") + page[26:]


def test_ogg_pages_within_a_page_count_unless_its_checksum_is_right() -> None:
    inner = audio.opus(1)[:200]
    shell = b"OggS\0\0" + bytes(8) + b"\x09\0\0\0" + bytes(8) + b"\1" + bytes([len(inner)]) + inner
    with_shell = length_of(audio.opus(30) + shell)
    assert length_of(audio.opus(30) + inner).seconds == with_shell.seconds > 30
    assert length_of(audio.opus(30) + checked(shell)).seconds == 30


def extensible(bits: int, valid: int) -> bytes:
    """Return a WAV file with 60 seconds of samples of so many bits, of which so many are called valid."""
    rate, size = audio.RATE, bits // 8
    form = struct.pack("<HHIIHH", 0xFFFE, 1, rate, rate * size, size, bits)
    form += struct.pack("<HHIH", 22, valid, 0, 1) + bytes.fromhex("000000001000800000aa00389b71")
    samples = bytes(60 * rate * size)
    chunks = b"WAVEfmt " + struct.pack("<I", len(form)) + form + b"data" + struct.pack("<I", len(samples)) + samples
    return b"RIFF" + struct.pack("<I", len(chunks)) + chunks


@pytest.mark.parametrize(
    ("bits", "valid", "seconds"), [(16, 16, 60), (32, 24, 60), (16, 12, 60), (24, 0, 60), (32, 8, 240), (64, 8, 480)]
)
def test_samples_are_as_small_as_the_bits_that_an_extensible_wav_calls_valid(
    bits: int, valid: int, seconds: int
) -> None:
    assert length_of(extensible(bits, valid)).seconds in (seconds, seconds + 1)


def two_formats(*, odd: bool = False, apart: int = 0) -> bytes:
    """Return a file of a minute whose second format has a hundred times the rate; before it, a chunk that may be odd."""
    data = audio.wav(60)
    second = data[12:24] + (100 * audio.RATE).to_bytes(4, "little") + data[28:36]
    between = b"junk\x03\0\0\0\0\0\0" if odd else b"junk" + struct.pack("<I", apart) + bytes(apart)
    return data[:36] + between + second + data[36:]


def twice(kind: bytes) -> bytes:
    """Return an MP4 file of a minute with a copy of one of its boxes behind it."""
    data = audio.m4a(60)
    at = data.index(kind) - 4
    box = data[at : at + int.from_bytes(data[at : at + 4], "big")]
    grown = data[: at + len(box)] + box + data[at + len(box) :]
    return _with_larger_parents(grown, at, len(box))


def _with_larger_parents(data: bytes, at: int, more: int) -> bytes:
    sizes = bytearray(data)
    for parent in (b"moov", b"trak", b"mdia", b"minf", b"stbl"):
        start = data.index(parent) - 4
        size = int.from_bytes(data[start : start + 4], "big")
        if start < at < start + size:
            sizes[start : start + 4] = (size + more).to_bytes(4, "big")
    return bytes(sizes)


def test_an_mp4_track_may_state_its_length_in_64_bits() -> None:
    data = audio.m4a(60)
    at = data.index(b"mdhd") + 4
    wide = b"\1" + bytes(19) + (1000).to_bytes(4, "big") + (120_000).to_bytes(8, "big") + bytes(4)
    grown = data[: at - 8] + (8 + len(wide)).to_bytes(4, "big") + b"mdhd" + wide + data[at + 24 :]
    assert length_of(_with_larger_parents(grown, at - 8, len(wide) - 24)).seconds == 120


@pytest.mark.parametrize(
    "data", [two_formats(), two_formats(odd=True), two_formats(apart=70_000), *map(twice, [b"stsd", b"stsz", b"mdhd"])]
)
def test_a_file_that_describes_its_audio_twice_is_refused(data: bytes) -> None:
    with pytest.raises(UnreadableAudio, match=r"once|twice"):
        length_of(data)


ESDS = b"\0\0\0\x27esds"


def test_an_mp4_track_with_two_descriptors_or_entries_is_refused() -> None:
    data = audio.m4a(60)
    at = data.index(ESDS)
    entries = data.index(b"stsd") + 11
    for double in (
        data[:at] + data[at : at + 39].replace(b"\x14\x08", b"\x10\x08") + data[at:],
        data[:entries] + b"\2" + data[entries + 1 :],
    ):
        with pytest.raises(UnreadableAudio, match="twice"):
            length_of(mp4_of(double, data))


def mp4_of(data: bytes, before: bytes) -> bytes:
    """Return a file whose description of its sound has grown, with the sizes of the boxes around it."""
    more = len(data) - len(before)
    sizes = bytearray(data)
    for box in (b"moov", b"trak", b"mdia", b"minf", b"stbl", b"stsd", b"mp4a"):
        start = data.index(box) - 4
        sizes[start : start + 4] = (int.from_bytes(data[start : start + 4], "big") + more).to_bytes(4, "big")
    return bytes(sizes)


def test_an_mp4_descriptor_behind_other_boxes_is_found() -> None:
    data = audio.m4a(60, claims=1, entry_rate=65_535)
    between = b"\0\0\1\x08free" + bytes(256)
    assert length_of(mp4_of(data.replace(ESDS, between + ESDS), data)).seconds in (60, 61)


@pytest.mark.parametrize(
    "before",
    [
        b"\x03\x1f\0\0\x40\x05\x02\x10\x08\0\0",  # an address that looks like another descriptor
        b"\x03\x1f\0\0\xe0\x05\x02\x01\0\x10\x08",  # and the fields before and behind it
        b"\x03\x80\x80\x80\x99\x05\x02\0",  # a size of four bytes
        b"\0\x1f\0\0",  # no ES_Descriptor
    ],
)
def test_an_mp4_descriptor_is_found_behind_optional_fields(before: bytes) -> None:
    assert length_of(described(before + b"\x04\x11\x40\x15" + bytes(11) + b"\x05\x02\x14\x08")).seconds in (60, 61)


def described(descriptors: bytes, *, entry_rate: int = 65_535) -> bytes:
    """Return an MP4 file of a minute of AAC, or of 938 frames, with these descriptors."""
    data = audio.m4a(60, claims=1, entry_rate=entry_rate)
    at = data.index(ESDS)
    box = b"esds" + bytes(4) + descriptors
    return mp4_of(data[:at] + struct.pack(">I", 4 + len(box)) + box + data[at + 39 :], data)


def test_mp3_in_mp4_counts_as_mp3_whatever_an_aac_descriptor_says() -> None:
    mp3 = b"\x03\x19\0\0\0\x04\x11\x6b\x15" + bytes(11)
    fast = b"\x05\x02\x10\x08"  # AAC of 96 kHz
    assert length_of(described(mp3 + fast, entry_rate=16_000)).seconds == math.ceil(938 * 576 / 16_000)
    assert length_of(described(mp3, entry_rate=32_000)).seconds == math.ceil(938 * 1152 / 32_000)


@pytest.mark.parametrize("kind", [b"", b"\x03\x19\0\0\0\x04\x11\xa6\x15", b"\x03\x19\0\0\0\x06\x01\x02"])
def test_an_mp4_track_that_does_not_describe_its_aac_is_refused(kind: bytes) -> None:
    descriptors = kind and kind + bytes(11) + b"\x05\x02\x14\x08"
    with pytest.raises(UnreadableAudio, match="no track of AAC"):
        length_of(described(descriptors, entry_rate=16_000))


@pytest.mark.parametrize(
    ("kind", "seconds"),
    [
        (b"\xf9\x56", 120),  # USAC of 8 kHz
        (b"\xf8\xf6", 60),  # ELD of 8 kHz, whose frames are half as long
        (b"\xbd\x88", 60),  # LD of 8 kHz
    ],
)
def test_an_mp4_descriptor_of_a_rare_kind_of_aac_tells_its_rate_and_frames(kind: bytes, seconds: int) -> None:
    data = audio.m4a(60, claims=1).replace(b"\x05\x02\x14\x08", b"\x05\x02" + kind)
    assert length_of(data).seconds in (seconds, seconds + 1)


def test_alac_and_flac_in_mp4_count_by_their_own_blocks_and_rates() -> None:
    data = audio.m4a(60, claims=1, codec=b"alac", entry_rate=65_535)
    frames = math.ceil(60 * audio.RATE / 1024)
    cookie = b"\0\0\0\x24alac" + struct.pack(">II6xHIII", 0, 16_384, 0, 0, 0, 8_000) + b"\0\0\0"
    at = data.index(ESDS)
    assert length_of(data[:at] + cookie + data[at + 39 :]).seconds == math.ceil(frames * 16_384 / 8_000)
    assert length_of(flac_in_mp4(1, audio.flac(3600, block=60_000))).seconds == 3600


def flac_in_mp4(frames: int, flac: bytes) -> bytes:
    """Return an MP4 file that holds all of a FLAC file, of which its tables name so many frames."""
    data = audio.m4a(frames * 1024 / audio.RATE, claims=1, codec=b"fLaC", entry_rate=65_535)
    at = data.index(ESDS)
    return data[:at] + b"\0\0\0\x27dfLa" + bytes(4) + flac[4:31] + data[at + 39 :] + flac[42:]


def test_flac_of_short_blocks_in_mp4_is_no_longer_than_its_blocks() -> None:
    assert length_of(flac_in_mp4(1250, audio.flac(60, block=768))).seconds in (60, 61)


@pytest.mark.parametrize("kind", [b"udta", b"free", b"cmov", b""])
def test_an_mp4_track_where_only_some_decoders_look_is_refused(kind: bytes) -> None:
    data, hidden = audio.m4a(1), audio.m4a(60)
    track = hidden[hidden.index(b"trak") - 4 : hidden.index(b"mdat") - 4]
    shell = struct.pack(">I", 8 + len(track)) + kind if kind else b"\0\0\0\4free"
    end = data.index(b"mdat") - 4
    moov = data.index(b"moov") - 4
    grown = struct.pack(">I", end - moov + len(shell + track)) + data[moov + 4 : end] + shell + track
    with pytest.raises(UnreadableAudio, match="damaged"):
        length_of(data[:moov] + grown + data[end:])
    assert length_of(data[:moov] + data[moov:end] + data[end:] + bytes(100)).seconds == 1


def test_a_chunk_of_odd_size_before_the_audio_is_not_a_second_format() -> None:
    data = audio.wav(60)
    assert length_of(data[:12] + b"junk\x03\0\0\0\0\0\0\0" + data[12:]).seconds in (60, 61)


@pytest.mark.parametrize("container", HONEST)
def test_a_damaged_file_is_read_or_refused_and_nothing_else(container: str) -> None:
    source = random.Random(container)
    honest = HONEST[container](3)
    for _ in range(150):
        damaged = bytearray(honest)
        for _ in range(source.randint(1, 8)):
            damaged[source.randrange(min(len(damaged), 400))] = source.randrange(256)
        with suppress(UnreadableAudio):
            assert length_of(bytes(damaged[: source.randint(1, len(damaged))])).seconds > 0


@pytest.mark.parametrize("container", HONEST)
def test_no_header_makes_much_of_a_file_come_into_memory(container: str) -> None:
    data = HONEST[container](3)
    stored = Stored(data + b"\x7f" * 2_000_000 if container != "mp3" else data)
    with suppress(UnreadableAudio):
        read_length(stored, stopped)
    assert 0 < stored.largest_read <= READ_MAX_BYTES


@pytest.mark.parametrize("size", [2**62, 2**63 - 60_000, 2**63 - 1, 2**64 - 1])
def test_a_size_near_the_largest_number_is_not_read_at(size: int, tmp_path: Path) -> None:
    path = tmp_path / "sound"
    path.write_bytes(audio.m4a(2) + b"\0\0\0\1free" + size.to_bytes(8, "big"))

    class OnDisk(Stored):
        def read_at(self, offset: int, size_bytes: int) -> bytes:
            return os.pread(file.fileno(), size_bytes, offset)

    with path.open("rb") as file:
        assert read_length(OnDisk(path.read_bytes()), stopped).seconds == 2


@pytest.mark.parametrize(
    "unit", [b"\xff\xf8\x75\x08", b"OggS" + bytes(22) + b"\xff" + bytes(255), b"\0\0\0\x08trak", b"\xec\x80"]
)
def test_a_file_of_nothing_but_parts_is_refused_soon(unit: bytes, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(source, "ELEMENTS_MAX", 50_000)
    fronts = {b"\xff": audio.flac(1), b"O": b"", b"\0": audio.m4a(1), b"\xec": audio.webm(1)}
    with pytest.raises(UnreadableAudio):
        length_of(fronts[unit[:1]] + unit * (2 * 1024 * 1024 // len(unit)))


FLAC_HEAD = audio.flac(1)[:42]

COSTLY = {
    "one frame and no other": (b"\xff\xfb\x90\x00", b"\xff"),
    "frames that no frame follows": (b"", b"\xff\xfb\x90\x00"),
    "tags without content": (b"", b"ID3\x04\0\0\0\0\0\0"),
    "chunks without content": (audio.wav(0)[:36], b"junk\0\0\0\0"),
    "blocks without content": (b"fLaC\0" + FLAC_HEAD[5:], b"\x01\0\0\0"),
    "comments without content": (b"fLaC\0" + FLAC_HEAD[5:] + b"\x84\xff\xff\xff\0\0\0\0\0\0\x60\0", b"\0\0\0\0"),
    "captures without pages": (b"", b"OggS"),
    "pages within pages": (b"", b"OggS" + bytes(22) + b"\xff" + b"\xff" * 255),
    "tracks without content": (b"\0\0\0\x08ftyp", b"\0\0\0\x08trak"),
    "a track for each page": (b"", b"OggS" + bytes(11) + b"%03d" + bytes(8) + b"\1\0"),
}


@pytest.mark.parametrize("case", COSTLY)
def test_a_file_made_to_cost_much_is_measured_or_given_up_at_a_bound(case: str) -> None:
    front, unit = COSTLY[case]
    number = 2 * 1024 * 1024 // len(unit)
    units = b"".join(unit % (at % 1000) for at in range(number)) if b"%" in unit else unit * number
    stored = Stored(front + units)

    def measure() -> None:
        with suppress(UnreadableAudio):
            read_length(stored, stopped)

    assert calls_during(measure).total() < 1_000_000
    assert stored.reads <= READS_MAX


@pytest.mark.parametrize("container", HONEST)
def test_a_file_that_takes_long_is_given_up_at_the_next_read(container: str) -> None:
    stored, looks = Stored(HONEST[container](3)), iter((0.0, CPU_SECONDS_MAX + 0.1))
    with pytest.raises(UnreadableAudio, match="too long"):
        read_length(stored, lambda: next(looks))
    assert stored.reads == 0


def test_the_longest_files_that_people_send_are_measured() -> None:
    frame = b"\xff\xf3\x48\xc4" + bytes(140)  # 32 kbit/s
    assert length_of(frame * (25 * 1024 * 1024 // len(frame))) == AudioLength("mp3", 6554)


def test_the_blocks_of_a_long_webm_take_few_steps() -> None:
    stored = Stored(audio.webm(600))
    calls = calls_during(lambda: read_length(stored, stopped)).total()
    assert calls < 12 * 600 * 50  # for each block of 20 ms, so that hours of it are measured within the bound


@pytest.mark.parametrize("number", [b"\x81", b"\xfe", b"\xc8"])
def test_only_blocks_of_the_audio_track_count(number: bytes) -> None:
    data = audio.webm(3)
    other = element(b"\xa3", number + b"\0\0\x80\x08" + bytes(30)) * 100
    more = element(b"\xa3", b"\x40\x01\0\0\x80\x08" + bytes(30)) * 100  # a long form of the same number
    assert length_of(data + other).seconds == (5 if number == b"\x81" else 3)
    assert length_of(data + more).seconds == 5


@pytest.mark.parametrize(
    ("head", "seconds"),
    [
        (b"", 0),
        (b"\x08", 0.02),
        (b"\x18", 0.06),
        (b"\x80", 0.0025),
        (b"\xf9", 0.04),
        (b"\x0b\x05", 0.1),
        (b"\x0b\x3f", 0.12),
    ],
)
def test_an_opus_packet_tells_its_length(head: bytes, seconds: float) -> None:
    assert packet_seconds(head) == pytest.approx(seconds)
