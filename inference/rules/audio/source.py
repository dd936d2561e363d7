"""Reads a stored file in small pieces, so that no value in it can cause a large allocation."""

from typing import Protocol

WINDOW_BYTES = 64 * 1024
READ_MAX_BYTES = 256 * 1024
"""The maximum bytes per read, whatever length a header states."""


class Stored(Protocol):
    """The interface of the stored bytes."""

    size_bytes: int

    def read_at(self, offset: int, size_bytes: int) -> bytes: ...


class AudioFile:
    """Random access through a small window, with the file methods that a tag reader needs."""

    def __init__(self, stored: Stored) -> None:
        self._stored = stored
        self.size_bytes = stored.size_bytes
        self._window, self._begin = b"", 0
        self._position = 0

    def at(self, offset: int, size_bytes: int) -> bytes:
        """Return the bytes at an offset, fewer at the end of the file."""
        size_bytes = min(size_bytes, READ_MAX_BYTES)
        begin = offset - self._begin
        if begin < 0 or begin + size_bytes > len(self._window):
            self._window = self._stored.read_at(offset, max(size_bytes, WINDOW_BYTES))
            self._begin, begin = offset, 0
        return self._window[begin : begin + size_bytes]

    def read(self, size_bytes: int = READ_MAX_BYTES) -> bytes:
        """Read from the position and advance it."""
        data = self.at(self._position, max(size_bytes, 0)) if self._position >= 0 else b""
        self._position += len(data)
        return data

    def seek(self, offset: int, whence: int = 0) -> int:
        """Move the position. Raises ValueError before the start."""
        self._position = offset + {0: 0, 1: self._position, 2: self.size_bytes}[whence]
        if self._position < 0:
            raise ValueError("before the beginning")
        return self._position

    def tell(self) -> int:
        """Return the position."""
        return self._position
