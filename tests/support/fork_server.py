"""`python -m tests.support.fork_server FD`: forks programs for the process at the other end of a socket, until that ends.

A request is a pickled `Program` with files: a socket, its standard ones, and those that it has open beside them. On the socket
it is told the process id, and later how the process ended, each as a message.
"""

import contextlib
import ctypes
import os
import pickle
import select
import signal
import socket
import sys
from functools import partial

from gateway.run.children import PR_SET_PDEATHSIG
from tests.support.forked_workers import fork_workers
from tests.support.forking import Program, fork, preload

MESSAGE_MAX_BYTES = 1024 * 1024
FILES_MAX = 64


class ForkServer:
    """Forks a process for each request, and reports its end."""

    def __init__(self, requests: socket.socket) -> None:
        self._requests = requests
        self._callers: dict[int, socket.socket] = {}
        self._ended, self._waking = socket.socketpair()
        self._waking.setblocking(False)
        signal.signal(signal.SIGCHLD, lambda number, frame: None)
        signal.set_wakeup_fd(self._waking.fileno(), warn_on_full_buffer=False)

    def serve(self) -> None:
        """Serve until the other end is closed."""
        is_open = True
        while is_open:
            ready, _, _ = select.select([self._requests, self._ended], [], [])
            if self._ended in ready:
                self._ended.recv(4096)
                self._report()
            if self._requests in ready:
                is_open = self._take()

    def _take(self) -> bool:
        """Fork the next program; return False if there is none any more."""
        message, received, _, _ = socket.recv_fds(self._requests, MESSAGE_MAX_BYTES, FILES_MAX)
        if not message:
            return False
        program: Program = pickle.loads(message)
        news, *files = received
        pid = fork(program, files, partial(_end_with_parent, os.getpid()))
        caller = self._callers[pid] = socket.socket(fileno=news)
        for number in files:
            os.close(number)
        _tell(caller, pid)
        return True

    def _report(self) -> None:
        """Tell how each process has ended that has."""
        while self._callers:
            pid, status = os.waitpid(-1, os.WNOHANG)
            if not pid:
                return
            with self._callers.pop(pid) as caller:
                _tell(caller, os.waitstatus_to_exitcode(status))


def _end_with_parent(parent: int) -> None:
    """Let no program outlive the tests."""
    ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, int(signal.SIGKILL), 0, 0, 0)
    if os.getppid() != parent:
        os._exit(1)


def _tell(caller: socket.socket, number: int) -> None:
    with contextlib.suppress(OSError):  # it may no longer want to know
        caller.send(str(number).encode())


def main() -> None:
    """Serve on the socket that the argument names."""
    requests = socket.socket(fileno=int(sys.argv[1]))
    preload()
    fork_workers()
    ForkServer(requests).serve()


if __name__ == "__main__":
    main()
