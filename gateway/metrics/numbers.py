"""Numbers the processes of this machine: each names its files by a number that it holds for as long as it lives.

A number outlives its process, unlike a process id: a process that is started goes on with the counters of one that has ended, so
there are never more files than there were processes at once. A kill -9 frees the number and leaves the counters.
"""

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import count
from pathlib import Path

from prometheus_client.multiprocess import mark_process_dead

_GUARD = "guard"
_HOLDER = ".holder"


class Number:
    """The number of the calling process, for the names of its files. A process that was forked off takes one of its own."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._holder = -1
        self._pid = 0
        self._text = ""

    def __call__(self) -> str:
        """Return the number. Raises OSError if the folder cannot be written."""
        if os.getpid() != self._pid:
            self._take()
        return self._text

    def _take(self) -> None:
        """Take the lowest free number. The first process of a machine removes what those before it have counted."""
        if self._holder >= 0:
            os.close(self._holder)  # the parent's, which holds it on
        with guarded(self._folder):
            if not any(_is_held(path) for path in _holders(self._folder)):
                _remove(self._folder.glob("*.db"))
            for number in count(1):
                path = self._folder / f"{number}{_HOLDER}"
                holder = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
                if _lock(holder):
                    break
                os.close(holder)
            mark_process_dead(number, str(self._folder))
        self._holder, self._pid, self._text = holder, os.getpid(), str(number)


@contextmanager
def guarded(folder: Path) -> Iterator[None]:
    """Keep others from taking numbers and from removing files, for some milliseconds. Raises OSError."""
    folder.mkdir(parents=True, exist_ok=True)
    guard = os.open(folder / _GUARD, os.O_RDWR | os.O_CREAT, 0o600)
    try:
        fcntl.flock(guard, fcntl.LOCK_EX)
        yield
    finally:
        os.close(guard)


def forget_dead(folder: Path) -> None:
    """Remove what processes that have ended were doing. What they counted stays. The caller has `guarded` the folder."""
    for path in _holders(folder):
        if not _is_held(path):
            mark_process_dead(path.name.removesuffix(_HOLDER), str(folder))


def _holders(folder: Path) -> list[Path]:
    return list(folder.glob(f"*{_HOLDER}"))


def _is_held(path: Path) -> bool:
    holder = os.open(path, os.O_RDWR)
    try:
        return not _lock(holder)
    finally:
        os.close(holder)


def _lock(holder: int) -> bool:
    """Lock an open file, and return whether nobody else holds it. A file that another process closed is free, however it ended."""
    try:
        fcntl.flock(holder, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def _remove(paths: Iterator[Path]) -> None:
    for path in paths:
        path.unlink(missing_ok=True)
