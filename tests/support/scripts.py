"""What a simulated service was told to answer next: each script waits for the requests that match it."""

import threading
from typing import Generic, Protocol, TypeVar


class Script(Protocol):
    """How the next `times` requests that match are answered."""

    times: int

    def matches(self, *asked: str) -> bool: ...


Waiting = TypeVar("Waiting", bound=Script)


class Scripts(Generic[Waiting]):
    """Hold the scripts in the order they were given; safe to use from several threads."""

    def __init__(self) -> None:
        self._waiting: list[Waiting] = []
        self._lock = threading.Lock()

    def add(self, script: Waiting) -> None:
        """Queue one script."""
        with self._lock:
            self._waiting.append(script)

    def clear(self) -> None:
        """Forget every script."""
        with self._lock:
            self._waiting.clear()

    def take(self, *asked: str) -> Waiting | None:
        """Use up one time of the first script that waits for such a request."""
        with self._lock:
            for script in self._waiting:
                if script.times > 0 and script.matches(*asked):
                    script.times -= 1
                    return script
        return None
