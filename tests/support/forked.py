"""Starts Python programs as `subprocess` does, without the time that an interpreter takes to import the gateway.

`Forked` asks the fork server, which starts with the first of them. `ForkingPopen` forks the process that uses it.
"""

import atexit
import inspect
import os
import pickle
import select
import signal
import socket
import subprocess
import sys
from pathlib import Path
from threading import Lock
from typing import Any

from gateway.run.options import PROJECT_DIR
from tests.support.concurrency import PATIENCE_SECONDS
from tests.support.fork_server import MESSAGE_MAX_BYTES
from tests.support.forking import Program, fork

STANDARD = ("p2cread", "c2pwrite", "errwrite")
PIPES = ("p2cread", "p2cwrite", "c2pread", "c2pwrite", "errread", "errwrite")
_Popen = subprocess.Popen
_execute: Any = vars(_Popen)["_execute_child"]
_environment = {"DJANGO_SETTINGS_MODULE": "gateway.settings", **os.environ, "PYTHONUNBUFFERED": "1"}
_lock = Lock()
_requests: socket.socket | None = None


class ForkingPopen(subprocess.Popen[Any]):
    """Forks this process, in which no other thread may run, if the command is Python's."""

    def _execute_child(self, *given: Any) -> None:
        options = inspect.signature(_execute).bind(self, *given).arguments
        program = _program(options)
        if program is None:
            _execute(self, *given)
            return
        files = [options[name] if options[name] >= 0 else number for number, name in enumerate(STANDARD)]
        self.pid = self._fork(program, files, options["preexec_fn"])
        ours: Any = self
        ours._child_created = True
        ours._close_pipe_fds(*(options[name] for name in PIPES))

    def _fork(self, program: Program, files: list[int], prepare: Any) -> int:
        return fork(program, files, prepare)


class Forked(ForkingPopen):
    """Has the fork server fork, whose process this one is then, if the command is Python's."""

    _news: socket.socket | None = None

    def poll(self) -> int | None:
        """Return the exit code, or None if it has not ended."""
        return super().poll() if self._news is None else self._look(self._news, 0)

    def wait(self, timeout: float | None = None) -> int:
        """Wait for its end, and return the exit code."""
        code = super().wait(timeout) if self._news is None else self._look(self._news, timeout)
        if code is None:
            raise subprocess.TimeoutExpired(self.args, timeout or 0)
        return code

    def _fork(self, program: Program, files: list[int], prepare: Any) -> int:
        """Fork in the server. What ties a child to this process is not called: it ends with the server, as that does with us."""
        self._news, theirs = socket.socketpair(type=socket.SOCK_SEQPACKET)
        with theirs:
            socket.send_fds(_server(), [pickle.dumps(program)], [theirs.fileno(), *files, *program.files])
        return int(self._news.recv(MESSAGE_MAX_BYTES))

    def _look(self, news: socket.socket, timeout: float | None) -> int | None:
        """Return the exit code, if it is known before the timeout."""
        if self.returncode is None and _has_news(news, timeout):
            with _lock:
                if self.returncode is None:  # no other thread was faster
                    self.returncode = int(news.recv(MESSAGE_MAX_BYTES) or -signal.SIGKILL)
                    news.close()
        return self.returncode


def _has_news(news: socket.socket, timeout: float | None) -> bool:
    poll = select.poll()
    poll.register(news, select.POLLIN)
    return bool(poll.poll(None if timeout is None else max(0.0, timeout) * 1000))


def run(
    command: list[str], *, check: bool = False, timeout: float = PATIENCE_SECONDS, **options: Any
) -> subprocess.CompletedProcess[str]:
    """Run a program to its end, as `subprocess.run` does, and return what it printed. Raises CalledProcessError if it fails and
    that is to be checked."""
    pipe = subprocess.PIPE
    with Forked(command, stdin=subprocess.DEVNULL, stdout=pipe, stderr=pipe, text=True, **options) as process:
        try:
            out, err = process.communicate(timeout=timeout)
        except BaseException:
            process.kill()
            raise
    done = subprocess.CompletedProcess(command, process.wait(), out, err)
    if check:
        done.check_returncode()
    return done


def _program(options: dict[str, Any]) -> Program | None:
    """Return what is to be started, if it can be forked."""
    command, group = options["args"], options["process_group"]
    if sys.platform != "linux" or command[0] != sys.executable or options["uid"] is not None:
        return None
    environment = os.environ if options["env"] is None else options["env"]
    return Program(
        arguments=[str(argument) for argument in command[1:]],
        environment=dict(environment),
        directory=str(options["cwd"] or Path.cwd()),
        new_session=options["start_new_session"],
        process_group=None if group < 0 else group,
        files=tuple(options["pass_fds"]),
    )


def _server() -> socket.socket:
    """Return the connection to the fork server."""
    global _requests
    with _lock:
        if _requests is None:
            _requests, theirs = socket.socketpair(type=socket.SOCK_SEQPACKET)
            with theirs:
                _start(_requests, theirs.fileno())
        return _requests


def _start(requests: socket.socket, number: int) -> None:
    process = _Popen(  # a test may have replaced `subprocess.Popen` by what asks the server
        [sys.executable, "-m", "tests.support.fork_server", str(number)],
        cwd=PROJECT_DIR,
        env=_environment,
        stdin=subprocess.DEVNULL,
        pass_fds=[number],
        start_new_session=True,
    )
    atexit.register(process.wait)
    atexit.register(requests.close)  # which ends it
