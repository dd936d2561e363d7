"""Reads a stored audio file in small pieces, so that no value in it can cause a large allocation, and with bounded effort."""

from collections.abc import Callable
from dataclasses import dataclass
from io import BytesIO
from typing import Protocol

from tinytag import TinyTag

ELEMENTS_MAX = 1_000_000
"""A file of 25 MiB with more frames than this was crafted to waste the reader's time."""
TRACKS_MAX = 64

WINDOW_BYTES = 64 * 1024

READ_MAX_BYTES = 256 * 1024
"""The maximum bytes per read, whatever length a header states."""

READS_MAX = 50_000
"""The maximum number of reads from the file."""

CPU_SECONDS_MAX = 1.0
"""The maximum processor time, which is looked at with each read from the file."""

Clock = Callable[[], float]


class UnreadableAudio(ValueError):
    """The length cannot be determined; the message tells the client why."""


@dataclass(frozen=True, slots=True)
class Reading:
    """The container's claim in seconds, and the range of lengths that its frames allow.

    `claimed` is None if there is no claim. `most` is None if `least` is exact.
    """

    claimed: float | None
    least: float
    most: float | None = None


def check_count(elements: int) -> None:
    """Raise UnreadableAudio if a file has more parts than any valid one."""
    if elements > ELEMENTS_MAX:
        raise UnreadableAudio("The file has too many parts.")


def check_tracks(tracks: int) -> None:
    """Raise UnreadableAudio if a file has more tracks than any valid one."""
    if tracks > TRACKS_MAX:
        raise UnreadableAudio("The file has too many tracks.")


class Stored(Protocol):
    """The interface of the stored bytes."""

    @property
    def size_bytes(self) -> int: ...

    def read_at(self, offset: int, size_bytes: int) -> bytes: ...


class AudioFile:
    """Random access through a small window.

    Reading raises UnreadableAudio once the file has caused too many reads, or too much work by `clock`, the seconds of
    processor time.
    """

    def __init__(self, stored: Stored, clock: Clock) -> None:
        self._stored = stored
        self._clock, self._begun = clock, clock()
        self._reads = 0
        self.size_bytes = stored.size_bytes
        self._window, self._begin = b"", 0

    def at(self, offset: int, size_bytes: int) -> bytes:
        """Return the bytes at an offset, fewer at the end of the file. Nothing behind its end is read: the system
        refuses offsets near the largest number, which a header may state."""
        if offset >= self.size_bytes:
            return b""
        size_bytes = min(size_bytes, READ_MAX_BYTES)
        begin = offset - self._begin
        if begin < 0 or begin + size_bytes > len(self._window):
            self._count_read()
            self._window = self._stored.read_at(offset, max(size_bytes, WINDOW_BYTES))
            self._begin, begin = offset, 0
        return self._window[begin : begin + size_bytes]

    def _count_read(self) -> None:
        self._reads += 1
        if self._reads > READS_MAX or self._clock() - self._begun > CPU_SECONDS_MAX:
            raise UnreadableAudio("It takes too long to measure the file.")


def read_tag(file: AudioFile, size_bytes: int) -> TinyTag:
    """Read the properties in the file's first bytes. Raises TinyTagException.

    Given all of a file, tinytag would parse any number of empty parts, and samples as headers.
    """
    return TinyTag.get(file_obj=BytesIO(file.at(0, size_bytes)), tags=False)
