"""A task queue in a directory, for one machine without Redis.

Kombu's own filesystem transport lets a reader see a message or a binding before it is completely written, and moves
messages through the system's temporary directory. This transport writes to another name and renames.
"""

import fcntl
import logging
import time
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from queue import Empty
from typing import Any

from kombu.utils.json import dumps, loads

from gateway.core.jobs.kombu_internals import Binding, FileChannel, FileTransport, register_transport

SCHEME = "files"

log = logging.getLogger("gateway.messages")


def register() -> None:
    """Register this transport for broker URLs."""
    register_transport(SCHEME, f"{__name__}:Transport")


class Channel(FileChannel):
    """Stores each message, and each exchange's bindings, in a file that appears atomically."""

    def get_table(self, exchange: str) -> list[Any]:
        path = self.bindings_file(exchange)
        try:
            return [Binding(*binding) for binding in loads(path.read_bytes())]
        except FileNotFoundError:
            return []
        except ValueError as error:  # as of a message: the next worker or sender that binds its queue replaces it
            log.error("%s is damaged, and replaced: %s", path.name, error)
            return []

    def add_binding(self, exchange: str, binding: Any) -> None:
        """Add a binding; other processes may do the same concurrently."""
        with self._bindings_locked():
            table = self.get_table(exchange)
            if binding not in table:
                _write(self.bindings_file(exchange), dumps([binding, *table]))

    def remove_binding(self, exchange: str, binding: Any) -> None:
        with self._bindings_locked():
            table = self.get_table(exchange)
            if binding in table:
                _write(self.bindings_file(exchange), dumps([known for known in table if known != binding]))

    def store(self, queue: str, message: Any) -> None:
        name = f"{time.time_ns():020}-{uuid.uuid4().hex}.{queue}.msg"
        _write(Path(self.data_folder_out, name), dumps(message))

    def take(self, queue: str) -> Any:
        """Take the oldest message; only one process gets it. One that cannot be read is dropped. Raises Empty."""
        for path in sorted(Path(self.data_folder_in).glob(f"*.{queue}.msg")):
            taken = path.with_suffix(".taken")
            try:
                path.rename(taken)
            except FileNotFoundError:
                continue
            content = taken.read_bytes()
            taken.unlink()
            try:
                return loads(content)
            except ValueError as error:  # the machine lost power before it was on disk
                log.error("%s is damaged, and left to the schedule: %s", path.name, error)
        raise Empty

    @contextmanager
    def _bindings_locked(self) -> Iterator[None]:
        """Hold the lock of all bindings."""
        with (self.control_folder / "lock").open("w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            yield


class Transport(FileTransport):
    """Connects Celery to the directory that its transport options name."""

    Channel = Channel


def _write(path: Path, content: str) -> None:
    """Write a file atomically: its name appears only when it is complete."""
    temporary = path.with_name(f".{uuid.uuid4().hex}.tmp")
    temporary.write_text(content, encoding="utf-8")
    temporary.rename(path)
