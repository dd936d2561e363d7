"""What a running sandbox uses as a whole: its files, and its memory where only resource limits bound each process."""

import contextlib
import os
from collections.abc import Iterator
from pathlib import Path

FILES_MAX = 16_384
_SHARED = "/tmp"  # noqa: S108 - within the sandbox


def excess_memory(bwrap: int, memory_mb: int) -> str:
    """Return why a sandbox without a cgroup has to be ended, or nothing; `bwrap` is the id of bubblewrap's process."""
    return beyond_memory(memory_mb) if _memory_bytes(bwrap) > memory_mb * 2**20 else ""


def beyond_memory(memory_mb: int) -> str:
    """Return what the owner of a run hears that used too much memory."""
    return f"The run used more than {memory_mb} MB of memory."


def excess_files(first: int | None, disk_bytes: int) -> str:
    """Return why a sandbox has to be ended, or nothing. `first` is the id of its first process, when it is known;
    `disk_bytes` is the size of the sandbox's own file system."""
    if first is not None and _files(first, disk_bytes) > FILES_MAX:
        return f"The run made more than {FILES_MAX:,} files."
    return ""


def _memory_bytes(bwrap: int) -> int:
    """Sum the memory of bubblewrap's descendants, anonymous and shared; pages that several have count once."""
    return sum(map(_proportional_bytes, descendants(bwrap)))


def _proportional_bytes(process: int) -> int:
    """Return a process's share of its anonymous and shared memory (proc_pid_smaps(5), in KiB there)."""
    with contextlib.suppress(OSError):
        lines = Path(f"/proc/{process}/smaps_rollup").read_text(encoding="ascii").splitlines()
        return sum(int(line.split()[1]) * 1024 for line in lines if line.startswith(("Pss_Anon:", "Pss_Shmem:")))
    return 0


def descendants(process: int) -> Iterator[int]:
    """Yield the processes below one. Those that end meanwhile are left out."""
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
    """Count the files in the sandbox's own file system; before it is mounted there are none."""
    try:
        statistics = os.statvfs(f"/proc/{first}/root{_SHARED}")
    except OSError:
        return 0
    if statistics.f_blocks * statistics.f_frsize != disk_bytes:
        return 0
    return statistics.f_files - statistics.f_ffree
