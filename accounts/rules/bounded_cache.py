"""A small cache with a limit in bytes, because strangers can fill it. Thread-safe."""

from threading import Lock
from typing import Generic, TypeVar

Key = TypeVar("Key")
Value = TypeVar("Value")

ENTRY_BYTES = 200  # the cache's own overhead per entry, approximately


class BoundedCache(Generic[Key, Value]):
    """Remembers the latest entries that fit into `max_bytes`; the oldest go first."""

    def __init__(self, max_bytes: int) -> None:
        self._items: dict[Key, Value] = {}
        self._sizes: dict[Key, int] = {}
        self._max_bytes = max_bytes
        self._bytes = 0
        self._writing = Lock()

    def __len__(self) -> int:
        return len(self._items)

    @property
    def size_bytes(self) -> int:
        """Count the bytes that the entries were said to take."""
        return self._bytes

    def get(self, key: Key) -> Value | None:
        """Return what was remembered, or None."""
        return self._items.get(key)

    def put(self, key: Key, value: Value, size_bytes: int) -> None:
        """Store a value of the given size, its key included, and drop the oldest entries if the cache is full.

        A value that takes more than a hundredth of the cache is not stored, so that a few entries cannot displace all
        others.
        """
        size = size_bytes + ENTRY_BYTES
        if size * 100 > self._max_bytes:
            return
        with self._writing:
            self._forget(key)
            while self._bytes + size > self._max_bytes:
                self._forget(next(iter(self._items)))
            self._items[key], self._sizes[key] = value, size
            self._bytes += size

    def clear(self) -> None:
        """Forget everything."""
        with self._writing:
            self._items.clear()
            self._sizes.clear()
            self._bytes = 0

    def _forget(self, key: Key) -> None:
        self._items.pop(key, None)
        self._bytes -= self._sizes.pop(key, 0)
