"""Files of clients that wait on disk: a place in a folder without a name, gone as soon as nobody keeps it."""

import os
import tempfile
from collections.abc import Callable
from threading import Lock

from django.conf import settings


class SpooledFile:
    """What came of one file. It is written once, then read by whoever keeps it, also by several at once.

    Whoever makes it keeps it; others `keep` it too. When all have let go, the disk is free. A process that dies leaves
    nothing behind, as the file never has a name.
    """

    def __init__(self, on_free: Callable[[], None] = lambda: None) -> None:
        self._file = tempfile.TemporaryFile(buffering=0, dir=settings.UPLOADS_DIR or None)  # noqa: SIM115
        self._on_free = on_free
        self._keepers = 1
        self._lock = Lock()  # a descriptor that is closed under a reader may be another customer's file by then
        self.size_bytes = 0

    @property
    def is_open(self) -> bool:
        """Return whether anybody keeps it."""
        return self._keepers > 0

    def write(self, data: bytes | memoryview) -> None:
        """Add to its end. Raises OSError where the disk is full."""
        left = memoryview(data)
        while left:
            left = left[self._file.write(left) or 0 :]
        self.size_bytes += len(data)

    def read_at(self, offset: int, size_bytes: int) -> bytes:
        """Read so many bytes from there, fewer at the end. Raises ValueError once it is gone."""
        with self._lock:
            return os.pread(self._file.fileno(), size_bytes, offset)

    def fileno(self) -> int:
        """Return its descriptor, by which its size is known."""
        return self._file.fileno()

    def keep(self) -> None:
        """Keep the file until one more user has released it."""
        self._keepers += 1

    def let_go(self) -> None:
        """Release it; the last one frees the disk."""
        self._keepers -= 1
        if self._keepers == 0:
            with self._lock:
                self._file.close()
            self._on_free()
