"""Becomes bubblewrap: `python -I -S launcher.py PARENT_PID USER_ID COMMAND...`. Uses the standard library alone.

A process of its own does what must not be done between fork and exec of a process with threads: it leaves the worker's
session keyring, becomes an ordinary user where the worker is root (the kernel counts nobody's processes against root),
and ties its life to the worker's.
"""

import ctypes
import os
import signal
import sys

PR_SET_PDEATHSIG = 1
KEYCTL_JOIN_SESSION_KEYRING = 1
KEYCTL = {"x86_64": 250, "aarch64": 219}
NICENESS = 5


def main(arguments: list[str]) -> None:
    """Prepare this process and replace it."""
    parent, user, command = int(arguments[0]), int(arguments[1]), arguments[2:]
    libc = ctypes.CDLL(None, use_errno=True)
    os.nice(NICENESS)
    if os.geteuid() == 0:
        os.setgroups([])
        os.setresgid(user, user, user)
        os.setresuid(user, user, user)
    libc.syscall(KEYCTL[os.uname().machine], KEYCTL_JOIN_SESSION_KEYRING, None)
    libc.prctl(PR_SET_PDEATHSIG, int(signal.SIGKILL), 0, 0, 0)  # after the change of user, which would undo it
    if os.getppid() != parent:
        sys.exit("the worker is gone")
    os.execve(command[0], command, {})  # noqa: S606 - that is what it is for


if __name__ == "__main__":
    main(sys.argv[1:])
