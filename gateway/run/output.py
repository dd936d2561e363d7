"""Forwards the output of children to our own standard error, with a prefix before each line, or with LOG_FORMAT=json as objects."""

import os
import selectors
import sys
from collections import defaultdict, deque
from typing import IO

from gateway.run.log_lines import message_of, shown
from gateway.run.terminal import print_line

READ_BYTES = 65536
LINES_MAX = 20
# Lines that Celery prints on shutdown and that carry no information.
NOISE = ("", "worker: Warm shutdown (MainProcess)")


class Output:
    """Reads the pipes of all children in one loop, without threads."""

    def __init__(self) -> None:
        self._selector = selectors.DefaultSelector()
        self._unfinished: dict[int, bytes] = {}
        self._recent: defaultdict[str, deque[str]] = defaultdict(lambda: deque(maxlen=LINES_MAX))

    def attach(self, name: str, pipe: IO[bytes]) -> None:
        """Forward the output of `pipe` with the prefix `name` until it closes."""
        os.set_blocking(pipe.fileno(), False)
        self._unfinished[pipe.fileno()] = b""
        self._selector.register(pipe, selectors.EVENT_READ, name)

    def pump(self, seconds: float) -> None:
        """Forward available output; wait at most `seconds` for some."""
        for key, _ in self._selector.select(seconds):
            self._read(key)

    def last_line(self, name: str) -> str:
        """Return the last line that `name` printed and that is not noise."""
        return message_of(self._recent[name][-1]).strip() if self._recent[name] else "no output"

    def _read(self, key: selectors.SelectorKey) -> None:
        """Read from one pipe and print its complete lines."""
        try:
            data = os.read(key.fd, READ_BYTES)
        except BlockingIOError:
            return
        *lines, rest = (self._unfinished[key.fd] + data).split(b"\n")
        if not data:
            lines, rest = [rest] if rest else [], b""
        for line in lines:
            self._print(key.data, line.decode(errors="replace").rstrip("\r"))
        self._unfinished[key.fd] = rest
        if not data:
            self._close(key)

    def _print(self, name: str, line: str) -> None:
        if line.strip() in NOISE:
            return
        self._recent[name].append(line)
        print_line(shown(name, line), sys.stderr)

    def _close(self, key: selectors.SelectorKey) -> None:
        """Remove a pipe whose writers have all ended."""
        self._selector.unregister(key.fileobj)
        del self._unfinished[key.fd]
        key.fileobj.close()  # type: ignore[union-attr]
