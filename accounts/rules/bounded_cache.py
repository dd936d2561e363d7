"""A small, thread-safe cache with a limit in bytes, because anonymous requests can fill it."""

from collections.abc import Callable
from itertools import takewhile
from threading import Lock
from typing import Generic, TypeVar

Key = TypeVar("Key")
Value = TypeVar("Value")

ENTRY_BYTES = 200  # the cache's own overhead per entry, approximately


class BoundedCache(Generic[Key, Value]):
    """Caches the latest entries that fit into `max_bytes`. The oldest are evicted first."""

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
        """Return the sum of the entries' stated sizes, in bytes."""
        return self._bytes

    def get(self, key: Key) -> Value | None:
        return self._items.get(key)

    def put(self, key: Key, value: Value, size_bytes: int) -> None:
        """Store a value of the given size, its key included, and evict the oldest entries if the cache is full.

        A value larger than a hundredth of the cache is not stored, so that a few entries cannot evict all others.
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

    def evict(self, is_over: Callable[[Value], bool]) -> None:
        """Evict the oldest entries, up to the first whose value is not over."""
        with self._writing:
            # Found in one pass: to look for the oldest again after each would take a time that grows with their square.
            for key, _ in list(takewhile(lambda entry: is_over(entry[1]), self._items.items())):
                self._forget(key)

    def clear(self) -> None:
        with self._writing:
            self._items.clear()
            self._sizes.clear()
            self._bytes = 0

    def _forget(self, key: Key) -> None:
        self._items.pop(key, None)
        self._bytes -= self._sizes.pop(key, 0)
