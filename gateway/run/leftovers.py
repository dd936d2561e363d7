"""Ends processes that an earlier supervisor left running because it was killed."""

import signal
import subprocess
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from gateway.run.children import signal_group
from gateway.run.patience import Patience

GRACE_SECONDS = 12.0
# The start time is field 22 of /proc/<pid>/stat; fields are counted from the end of the name, which may contain spaces.
START_FIELD = 22 - 3


def identify(pid: int) -> str | None:
    """Return the start time of process `pid`, which distinguishes it from a later one with the same number; None if it
    has ended."""
    try:
        status = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8", errors="replace")
    except FileNotFoundError:
        return None if Path("/proc/self").exists() else _ask_ps(pid)
    except OSError:
        return None
    fields = status.rpartition(")")[2].split()
    return None if fields[0] in "ZX" else fields[START_FIELD]


def _ask_ps(pid: int) -> str | None:
    """Return the start time on systems without /proc."""
    answer = subprocess.run(["ps", "-o", "lstart=", "-p", str(pid)], capture_output=True, text=True, check=False)
    return answer.stdout.strip() or None


def end_leftovers(children: Mapping[str, Any], patience: Patience) -> None:
    """Wait for recorded children that are still running to end, as the kernel signalled them to, and kill the rest."""
    alive = [child["pid"] for child in children.values() if _is_same(child)]
    for pid in alive:
        signal_group(pid, signal.SIGTERM, leader_only=True)
    deadline = time.monotonic() + GRACE_SECONDS
    while any(_is_same(child) for child in children.values()) and time.monotonic() < deadline:
        patience.check("ending what an earlier start left running")
        time.sleep(0.05)
    for pid in alive:
        signal_group(pid, signal.SIGKILL)


def _is_same(child: Any) -> bool:
    """Return whether a recorded child is still running, rather than another process with its number."""
    started = child.get("started")
    return started is not None and identify(int(child["pid"])) == started
