"""A lock between processes: whoever dies gives it up."""

import os
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from account_gateway_client.cli.errors import CommandError, TimedOut
from account_gateway_client.cli.private_files import FILE_MODE

PATIENCE_SECONDS = 60.0
POLL_SECONDS = 0.02


@contextmanager
def locked(path: Path) -> Iterator[None]:
    """Hold the lock of a file, which stays. Raises TimedOut if another process does not give it up."""
    try:
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT | getattr(os, "O_NOFOLLOW", 0), FILE_MODE)
    except OSError as error:
        raise CommandError(f"{path} cannot be written ({error.strerror}).") from None
    try:
        _wait(descriptor, path)
        yield
    finally:
        os.close(descriptor)  # which gives the lock up


def _wait(descriptor: int, path: Path) -> None:
    until = time.monotonic() + PATIENCE_SECONDS
    while not _taken(descriptor):
        if time.monotonic() > until:
            raise TimedOut(f"Another agw has held {path} for {PATIENCE_SECONDS:.0f} seconds: end it, and try again.")
        time.sleep(POLL_SECONDS)


if sys.platform == "win32":
    import msvcrt

    def _taken(descriptor: int) -> bool:
        try:
            msvcrt.locking(descriptor, msvcrt.LK_NBLCK, 1)
        except OSError:
            return False
        return True

else:
    import fcntl

    def _taken(descriptor: int) -> bool:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        return True
