"""Starts and stops child processes so that none can outlive the gateway."""

import contextlib
import ctypes
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Collection, Mapping, Sequence
from pathlib import Path
from typing import IO

from gateway.run.identity import Identity

PR_SET_PDEATHSIG = 1
_libc = ctypes.CDLL(None) if sys.platform == "linux" else None


def spawn(
    command: Sequence[str],
    *,
    environment: Mapping[str, str],
    directory: Path = Path("/"),
    output: IO[bytes] | int | None = None,
    identity: Identity | None = None,
    file_descriptors: Collection[int] = (),
    death_signal: signal.Signals = signal.SIGTERM,
) -> subprocess.Popen[bytes]:
    """Start `command` in its own process group.

    A Ctrl-C at the terminal then reaches only the supervisor, which stops the children in order. If the kernel supports
    it (Linux), a child receives `death_signal` when the supervisor dies without having stopped it.
    """
    return subprocess.Popen(
        command,
        env=dict(environment),
        cwd=directory,
        stdin=subprocess.DEVNULL,
        stdout=output,
        stderr=subprocess.STDOUT if output is not None else None,
        process_group=0,
        pass_fds=file_descriptors,
        preexec_fn=_preparation(death_signal),  # noqa: PLW1509 - children are started from one thread
        **(identity.spawn_arguments() if identity else {}),
    )


def stop(child: subprocess.Popen[bytes], how: signal.Signals, grace_seconds: float) -> None:
    """Send a signal to `child`, wait for it, and kill what is left of its group after `grace_seconds`."""
    if child.poll() is None:
        signal_group(child.pid, how, leader_only=True)
        with contextlib.suppress(subprocess.TimeoutExpired):
            child.wait(grace_seconds)
    signal_group(child.pid, signal.SIGKILL)
    child.wait()


def signal_group(group: int, how: signal.Signals, *, leader_only: bool = False) -> None:
    """Send a signal to a process group, or only to its leader; a group that has ended is not an error."""
    with contextlib.suppress(ProcessLookupError, PermissionError):
        if leader_only:
            os.kill(group, how)
        else:
            os.killpg(group, how)


def _preparation(death_signal: signal.Signals) -> Callable[[], None]:
    """Return a function that a child runs before exec, so that it can be interrupted and its parent's death ends it.

    It runs after the change of user, because the kernel clears the death signal when credentials change.
    """
    parent, number = os.getpid(), int(death_signal)

    def prepare() -> None:
        # A background job of a shell ignores SIGINT, and so would its children: SIGINT is what stops a PostgreSQL fast.
        signal.signal(signal.SIGINT, signal.SIG_DFL)
        if _libc is not None:
            _libc.prctl(PR_SET_PDEATHSIG, number, 0, 0, 0)
            if os.getppid() != parent:
                os._exit(1)

    return prepare
