"""Scripted responses of a simulated service: each script waits for the requests that match it."""

import threading
from typing import Generic, Protocol, TypeVar


class Script(Protocol):
    """The response to the next `times` matching requests."""

    times: int

    def matches(self, *request: str) -> bool: ...


Waiting = TypeVar("Waiting", bound=Script)


class Scripts(Generic[Waiting]):
    """Holds the scripts in the order in which they were added; thread-safe."""

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

    def take(self, *request: str) -> Waiting | None:
        """Use the first script that matches such a request once, and return it."""
        with self._lock:
            for script in self._waiting:
                if script.times > 0 and script.matches(*request):
                    script.times -= 1
                    return script
        return None
