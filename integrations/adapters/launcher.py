"""Prepares its process and executes bubblewrap: `python -I -S launcher.py PARENT_PID USER_ID CGROUP_FD COMMAND...`.
Uses only the standard library. CGROUP_FD is an open `cgroup.procs` file, or - if the run has no cgroup.

It is a separate process, because the following must not be done between fork and exec in a process with threads. It
enters the run's cgroup, leaves the worker's session keyring, becomes an ordinary user if the worker is root (the kernel
does not limit root's processes), and ends if the worker dies.
"""

import contextlib
import ctypes
import os
import signal
import sys
from pathlib import Path

PR_SET_PDEATHSIG = 1
KEYCTL_JOIN_SESSION_KEYRING = 1
KEYCTL = {"x86_64": 250, "aarch64": 219}
NICENESS = 5
OOM_SCORE_ADJUSTMENT = 500
"""If memory is short, runs are killed before services. Otherwise a run would inherit its worker's protection."""


def main(arguments: list[str]) -> None:
    """Prepare this process and replace it."""
    parent, user, group, command = int(arguments[0]), int(arguments[1]), arguments[2], arguments[3:]
    libc = ctypes.CDLL(None, use_errno=True)
    if group != "-":
        enter(int(group))
    os.nice(NICENESS)
    with contextlib.suppress(OSError):
        Path("/proc/self/oom_score_adj").write_text(str(OOM_SCORE_ADJUSTMENT))
    if os.geteuid() == 0:
        os.setgroups([])
        os.setresgid(user, user, user)
        os.setresuid(user, user, user)
    libc.syscall(KEYCTL[os.uname().machine], KEYCTL_JOIN_SESSION_KEYRING, None)
    libc.prctl(PR_SET_PDEATHSIG, int(signal.SIGKILL), 0, 0, 0)  # after the change of user, which would undo it
    if os.getppid() != parent:
        sys.exit("the worker is gone")
    os.execve(command[0], command, {})  # noqa: S606 - this is the launcher's purpose


def enter(group: int) -> None:
    """Move this process into the cgroup whose `cgroup.procs` is open, and close that: the sandbox must not inherit it."""
    try:
        os.write(group, b"0")
    except OSError as error:
        sys.exit(f"the run's cgroup cannot be entered: {error.strerror}")
    os.close(group)


if __name__ == "__main__":
    main(sys.argv[1:])
