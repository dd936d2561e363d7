"""Limits a running sandbox as a whole: its files and, if there is no cgroup, its memory."""

import contextlib
import os
from collections.abc import Iterator
from pathlib import Path

FILES_MAX = 16_384
_SHARED = "/tmp"  # noqa: S108 - within the sandbox


def excess_memory(bwrap: int, memory_mb: int) -> str:
    """Return why a sandbox without a cgroup must be stopped, or an empty string. `bwrap` is bubblewrap's process id."""
    return beyond_memory(memory_mb) if _memory_bytes(bwrap) > memory_mb * 2**20 else ""


def beyond_memory(memory_mb: int) -> str:
    """Return the message for the owner of a run that used too much memory."""
    return f"The run used more than {memory_mb} MB of memory."


def excess_files(first: int | None, disk_bytes: int) -> str:
    """Return why a sandbox must be stopped, or an empty string. `first` is the id of its first process, if known;
    `disk_bytes` is the size of its file system.
    """
    if first is not None and _files(first, disk_bytes) > FILES_MAX:
        return f"The run made more than {FILES_MAX:,} files."
    return ""


def _memory_bytes(bwrap: int) -> int:
    """Sum the anonymous and shared memory of bubblewrap's descendants. Pages that several share count once."""
    return sum(map(_proportional_bytes, descendants(bwrap)))


def _proportional_bytes(process: int) -> int:
    """Return a process's proportional share of anonymous and shared memory (proc_pid_smaps(5), in KiB there)."""
    with contextlib.suppress(OSError):
        lines = Path(f"/proc/{process}/smaps_rollup").read_text(encoding="ascii").splitlines()
        return sum(int(line.split()[1]) * 1024 for line in lines if line.startswith(("Pss_Anon:", "Pss_Shmem:")))
    return 0


def descendants(process: int) -> Iterator[int]:
    """Yield the descendants of a process. Those that end meanwhile are omitted."""
    waiting = [process]
    while waiting:
        parent = waiting.pop()
        with contextlib.suppress(OSError, ValueError):
            for thread in Path(f"/proc/{parent}/task").iterdir():
                children = (thread / "children").read_text(encoding="ascii")
                found = [int(child) for child in children.split()]
                waiting += found
                yield from found


def _files(first: int, disk_bytes: int) -> int:
    """Count the files in the sandbox's own file system; 0 before it is mounted."""
    try:
        statistics = os.statvfs(f"/proc/{first}/root{_SHARED}")
    except OSError:
        return 0
    if statistics.f_blocks * statistics.f_frsize != disk_bytes:
        return 0
    return statistics.f_files - statistics.f_ffree
