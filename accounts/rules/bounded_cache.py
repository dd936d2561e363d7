"""A small cache that never outgrows its bound. Safe in threads."""

from threading import Lock
from typing import Generic, TypeVar

Key = TypeVar("Key")
Value = TypeVar("Value")


class BoundedCache(Generic[Key, Value]):
    """Remembers the latest `max_items`; the oldest go first."""

    def __init__(self, max_items: int) -> None:
        self._items: dict[Key, Value] = {}
        self._max_items = max_items
        self._writing = Lock()

    def __len__(self) -> int:
        return len(self._items)

    def get(self, key: Key) -> Value | None:
        """Return what was remembered, or None."""
        return self._items.get(key)

    def put(self, key: Key, value: Value) -> None:
        """Remember a value and forget the oldest where there are too many."""
        with self._writing:
            while len(self._items) >= self._max_items:
                del self._items[next(iter(self._items))]
            self._items[key] = value

    def clear(self) -> None:
        """Forget everything."""
        with self._writing:
            self._items.clear()
