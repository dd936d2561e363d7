"""Counts uses in this process's memory: for limits that guard no secret, and must cost the database nothing."""

import time
from collections.abc import Callable, Hashable
from threading import Lock
from typing import NamedTuple


class Window(NamedTuple):
    """The uses of one key, and the time of the clock at which they are forgotten."""

    used: int
    ends_at: float


class WindowCounts:
    """The uses of each key within a window that begins with its first use. Threads may share it.

    If there are more than `keys_max` keys, the window that began first is forgotten, so that strangers cannot fill the memory.
    """

    def __init__(self, seconds: float, keys_max: int = 10_000, clock: Callable[[], float] = time.monotonic) -> None:
        self._seconds = seconds
        self._keys_max = keys_max
        self._clock = clock
        self._windows: dict[Hashable, Window] = {}
        self._changing = Lock()

    def __len__(self) -> int:
        return len(self._windows)

    def used(self, key: Hashable) -> tuple[int, float]:
        """Return the uses in the key's window, and the seconds until it ends: 0 and the whole window if there is none."""
        window = self._windows.get(key)
        if window is None:
            return 0, self._seconds
        left_seconds = window.ends_at - self._clock()
        return (window.used, left_seconds) if left_seconds > 0 else (0, self._seconds)

    def take(self, key: Hashable, most: int) -> tuple[bool, int, float]:
        """Count a use unless there were `most`. Return whether it was counted, and what `used` then returns."""
        with self._changing:
            window, now = self._windows.get(key), self._clock()
            if window is None or window.ends_at <= now:
                window = self._begin(key, now)
            if window.used >= most:
                return False, window.used, window.ends_at - now
            self._windows[key] = window = window._replace(used=window.used + 1)
            return True, window.used, window.ends_at - now

    def give_back(self, key: Hashable) -> None:
        """Uncount one use, if there is one."""
        if key in self._windows:
            with self._changing:
                window = self._windows.get(key)
                if window is not None and window.used > 0:
                    self._windows[key] = window._replace(used=window.used - 1)

    def clear(self) -> None:
        """Forget all uses."""
        with self._changing:
            self._windows.clear()

    def _begin(self, key: Hashable, now: float) -> Window:
        """Begin a window, and make room for it: windows are kept in the order in which they began."""
        self._windows.pop(key, None)
        while len(self._windows) >= self._keys_max:
            del self._windows[next(iter(self._windows))]
        window = self._windows[key] = Window(0, now + self._seconds)
        return window
