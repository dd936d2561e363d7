"""Creates a cgroup for each run, which limits all of the run's processes together, and removes it after the run."""

import contextlib
import errno
import fcntl
import os
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from uuid import uuid4

from integrations.adapters import delegation
from integrations.adapters.delegation import NotDelegated

PREFIX = "run-"
REMOVE_SECONDS = 1.0
LOOK_SECONDS = 0.01
TRIES = 5
OPTIONAL = frozenset({"memory.swap.max"})
"""Files that kernels may lack."""


class Cgroup:
    """A cgroup, and a lock on it that this process holds until it ends. An unlocked cgroup was left by a worker that
    died.
    """

    def __init__(self, path: Path, lock: int) -> None:
        self.path = path
        self._lock = lock

    def limit(self, limits: Mapping[str, str]) -> None:
        """Set limits, given by file name."""
        for name, value in limits.items():
            file = self.path / name
            if name not in OPTIONAL or file.exists():
                file.write_text(value)

    def open_procs_file(self) -> int:
        """Return a file descriptor; a process that writes 0 to it enters the cgroup. The caller closes it."""
        return os.open(self.path / "cgroup.procs", os.O_WRONLY | os.O_CLOEXEC)

    def kill(self) -> None:
        """Kill all processes in the cgroup, including those being forked."""
        with contextlib.suppress(OSError):
            (self.path / "cgroup.kill").write_text("1")

    def is_out_of_memory(self) -> bool:
        """Return whether processes were killed because this cgroup, not a parent, reached its limit."""
        try:
            lines = (self.path / "memory.events").read_text(encoding="ascii").splitlines()
        except OSError:
            return False
        events = {name: int(count) for name, count in (line.split() for line in lines)}
        return events.get("oom", 0) > 0 and events.get("oom_kill", 0) > 0

    def remove(self) -> None:
        """Kill the cgroup's processes and remove it. If it remains busy, the next `sweep` removes it."""
        deadline = time.monotonic() + REMOVE_SECONDS
        try:
            self.kill()
            while _is_busy(self.path) and time.monotonic() < deadline:
                time.sleep(LOOK_SECONDS)
        finally:
            os.close(self._lock)


@contextmanager
def for_run(limits: Mapping[str, str]) -> Iterator[Cgroup | None]:
    """Provide a cgroup with limits, after removing those that dead workers left; None if the machine delegates none.

    Raises RunnerMissing and OSError.
    """
    try:
        base = delegation.base()
    except NotDelegated:
        yield None
        return
    sweep(base)
    group = create(base)
    try:
        group.limit(limits)
        yield group
    finally:
        group.remove()


def create(base: Path) -> Cgroup:
    """Create a cgroup and lock it. Raises OSError."""
    for _ in range(TRIES):
        path = base / f"{PREFIX}{uuid4().hex}"
        path.mkdir()
        if (lock := _locked(path)) is not None:
            return Cgroup(path, lock)
        # Another worker's sweep removed it before it was locked.
    raise OSError(errno.EBUSY, os.strerror(errno.EBUSY))


def sweep(base: Path) -> None:
    """Remove the cgroups of dead workers' runs, and kill their processes."""
    for path in base.glob(f"{PREFIX}*"):
        if (lock := _locked(path)) is not None:
            Cgroup(path, lock).remove()


def _locked(path: Path) -> int | None:
    """Return a file descriptor that holds the lock; None if another process holds it or the cgroup was removed."""
    try:
        lock = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    except OSError:
        return None
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        path.stat()  # it may have been removed before it was locked
    except OSError:
        os.close(lock)
        return None
    return lock


def _is_busy(path: Path) -> bool:
    """Remove a cgroup; return whether it still has processes."""
    try:
        path.rmdir()
    except OSError as error:
        return error.errno == errno.EBUSY
    return False
