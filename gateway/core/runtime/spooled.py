"""Clients' files on disk, without a name, deleted as soon as they are no longer used."""

import os
import tempfile
from collections.abc import Callable
from threading import Lock

from django.conf import settings


class SpooledFile:
    """A client's file. It is written once, then read, possibly by several users concurrently.

    The creator owns it; others `keep` it as well. The disk is freed when all have let go. A process that dies leaves
    nothing behind, because the file has no name.
    """

    def __init__(self, on_free: Callable[[], None] = lambda: None) -> None:
        self._file = tempfile.TemporaryFile(buffering=0, dir=settings.UPLOADS_DIR or None)  # noqa: SIM115
        self._on_free = on_free
        self._keepers = 1
        self._lock = Lock()  # after a concurrent close, the descriptor may refer to another customer's file
        self.size_bytes = 0

    @property
    def is_open(self) -> bool:
        """Return whether the file is still in use."""
        return self._keepers > 0

    def write(self, data: bytes | memoryview) -> None:
        """Append to it. Raises OSError if the disk is full."""
        left = memoryview(data)
        while left:
            left = left[self._file.write(left) or 0 :]
        self.size_bytes += len(data)

    def read_at(self, offset: int, size_bytes: int) -> bytes:
        """Read `size_bytes` at `offset`, fewer at the end. Raises ValueError once it is closed."""
        with self._lock:
            return os.pread(self._file.fileno(), size_bytes, offset)

    def fileno(self) -> int:
        """Return its descriptor, from which its size can be read."""
        return self._file.fileno()

    def keep(self) -> None:
        """Keep the file until one more user has released it."""
        self._keepers += 1

    def release(self) -> None:
        """Release it; the last one frees the disk."""
        self._keepers -= 1
        if self._keepers == 0:
            with self._lock:
                self._file.close()
            self._on_free()
