"""Executes a program on this machine in its own namespaces (bubblewrap), and supervises it until it ends."""

import contextlib
import fcntl
import json
import os
import selectors
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor, wait
from contextlib import ExitStack, contextmanager
from typing import Any

from integrations.adapters import cgroups, confinement, launcher, usage
from integrations.adapters.programs import Ending, Outcome, Output, Program, RunnerMissing, Tick
from integrations.rules import seccomp

TICK_SECONDS = 1.0
LOOK_SECONDS = 0.1
CHUNK_BYTES = 64 * 1024
STATUS_MAX_BYTES = 64 * 1024
SEALS = fcntl.F_SEAL_SEAL | fcntl.F_SEAL_SHRINK | fcntl.F_SEAL_GROW | fcntl.F_SEAL_WRITE
END_SECONDS = 1.0
"""The time that bubblewrap may take to exit after its program."""


def run(program: Program, tick: Tick) -> tuple[Outcome, Output]:
    """Execute a program; return its outcome and output. All of its processes have ended by then.

    Another thread supervises the program, so that a slow tick does not delay the limits.
    """
    output = Output(program.output_max_bytes)
    try:
        with _started(program) as execution, ThreadPoolExecutor(1, "sandbox") as watcher:
            watching = watcher.submit(execution.watch_to_end, program, output)
            try:
                while not wait([watching], TICK_SECONDS).done and tick(output):
                    pass
            finally:
                execution.stop()
            return watching.result(), output
    except RunnerMissing as error:
        return Outcome(Ending.NOT_STARTED, reason=str(error)), output
    except OSError as error:
        return Outcome(Ending.NOT_STARTED, reason=f"The program could not be started: {error.strerror}."), output


@contextmanager
def _started(program: Program) -> Iterator["_Execution"]:
    """Start bubblewrap; kill its remaining processes at the end."""
    bwrap = confinement.program_path("bwrap", "bubblewrap")
    with ExitStack() as stack:
        group = stack.enter_context(cgroups.for_run(confinement.cgroup_limits(program)))
        limited = confinement.limited(program, has_cgroup=group is not None)
        fd_of = {name: _memory_file(stack, content) for name, content in _input_files(program).items()}
        status, fd_of["status"] = os.pipe()
        stack.callback(os.close, status)
        with ExitStack() as ours:
            ours.callback(os.close, fd_of["status"])
            words = b"".join(word.encode() + b"\0" for word in confinement.arguments(program, fd_of))
            fd_of["arguments"] = _memory_file(ours, words)
            stdin = _memory_file(ours, program.stdin)
            command = [bwrap, "--args", str(fd_of["arguments"]), "--", *limited]
            process = _launched(command, stdin, tuple(fd_of.values()), group)
        execution = _Execution(process, status, group)
        try:
            yield execution
        finally:
            execution.kill()


def _input_files(program: Program) -> dict[str, bytes]:
    """Return the contents of the files that bubblewrap reads: its own, and the program's by path with a leading
    slash.
    """
    return {
        **{"/" + path: content for path, content in program.files.items()},
        "filter": seccomp.program(confinement.machine(), egress=program.egress),
        "passwd": confinement.passwd(),
        "environment": confinement.environment(program),
    }


def _launched(
    command: list[str], stdin: int, inherited: tuple[int, ...], group: cgroups.Cgroup | None
) -> subprocess.Popen[bytes]:
    """Start the launcher, which enters the cgroup and becomes the command."""
    procs_fds = () if group is None else (group.open_procs_file(),)
    with ExitStack() as stack:
        for fd in procs_fds:
            stack.callback(os.close, fd)
        return subprocess.Popen(
            [
                *(sys.executable, "-I", "-S", str(launcher.__file__)),
                *(str(os.getpid()), str(confinement.OUTER_USER_ID), *(map(str, procs_fds or ("-",)))),
                *command,
            ],
            stdin=stdin,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            pass_fds=(*inherited, *procs_fds),
            env={},
            cwd="/",
        )


class _Execution:
    """bubblewrap's process and, once known, the first process in the sandbox."""

    def __init__(self, process: subprocess.Popen[bytes], status: int, group: cgroups.Cgroup | None) -> None:
        self._process = process
        self._group = group
        self._status = bytearray()
        self._status_fd = status
        self._first: int | None = None
        self._first_handle: int | None = None
        self._is_stopped = False

    def stop(self) -> None:
        """Make `watch` return."""
        self._is_stopped = True

    def watch_to_end(self, program: Program, output: Output) -> Outcome:
        """Supervise the program until it ends, and kill its remaining processes."""
        try:
            return self.watch(program, output)
        finally:
            self.kill()

    def watch(self, program: Program, output: Output) -> Outcome:
        """Read the program's output until it ends or must be stopped."""
        ends_at = time.monotonic() + program.timeout_seconds
        look_at = 0.0
        with selectors.DefaultSelector() as selector:
            for name, fd in self._streams().items():
                selector.register(fd, selectors.EVENT_READ, name)
            while selector.get_map():
                self._read(selector, output)
                now = time.monotonic()
                if now >= ends_at:
                    reason = f"The run took longer than {program.timeout_seconds} s."
                    return Outcome(Ending.TIMED_OUT, reason=reason)
                if now >= look_at:
                    look_at = now + LOOK_SECONDS
                    if reason := self._excess(program):
                        return Outcome(Ending.BEYOND_LIMIT, reason=reason)
                if self._is_stopped:
                    return Outcome(Ending.STOPPED)
        return self._outcome(program, output)

    def kill(self) -> None:
        """Kill bubblewrap and every process of the sandbox; return when they are gone. Repeating changes nothing.

        bubblewrap's children are killed first, so that bubblewrap can reap them.
        """
        if self._process.poll() is None:
            for process in list(usage.descendants(self._process.pid)):
                with contextlib.suppress(ProcessLookupError):
                    os.kill(process, signal.SIGKILL)
            with contextlib.suppress(subprocess.TimeoutExpired):
                self._process.wait(END_SECONDS)
            self._process.kill()
        if self._group is not None:
            self._group.kill()
        self._process.wait()
        self._kill_first()
        for stream in (self._process.stdout, self._process.stderr):
            if stream is not None and not stream.closed:
                _drain(stream.fileno())
                stream.close()

    def _kill_first(self) -> None:
        """Kill the sandbox's first process and wait until it has ended; the kernel ends all others before it."""
        if self._first_handle is None:
            return
        handle, self._first_handle = self._first_handle, None
        with contextlib.suppress(ProcessLookupError):
            signal.pidfd_send_signal(handle, signal.SIGKILL)
        with selectors.DefaultSelector() as selector:
            selector.register(handle, selectors.EVENT_READ)
            selector.select(END_SECONDS)
        os.close(handle)

    def _excess(self, program: Program) -> str:
        """Return why the program must be stopped, or an empty string."""
        if self._group is None and (reason := usage.excess_memory(self._process.pid, program.memory_mb)):
            return reason
        return usage.excess_files(self._first, confinement.DISK_MAX_BYTES)

    def _streams(self) -> dict[str, int]:
        assert self._process.stdout is not None
        assert self._process.stderr is not None
        return {
            "stdout": self._process.stdout.fileno(),
            "stderr": self._process.stderr.fileno(),
            "status": self._status_fd,
        }

    def _read(self, selector: selectors.BaseSelector, output: Output) -> None:
        for key, _ in selector.select(LOOK_SECONDS):
            data = os.read(key.fd, CHUNK_BYTES)
            if not data:
                selector.unregister(key.fd)
            elif key.data == "status":
                self._read_status(data)
            else:
                output.take(key.data, data)

    def _read_status(self, data: bytes) -> None:
        if len(self._status) < STATUS_MAX_BYTES:
            self._status += data
        if self._first is None and (first := self._reported("child-pid")) is not None:
            self._first = first
            with contextlib.suppress(ProcessLookupError):
                self._first_handle = os.pidfd_open(first)

    def _reported(self, member: str) -> int | None:
        """Parse bubblewrap's status reports, one JSON object per line."""
        for line in bytes(self._status).splitlines():
            with contextlib.suppress(ValueError):
                report: dict[str, Any] = json.loads(line)
                if member in report:
                    return int(report[member])
        return None

    def _outcome(self, program: Program, output: Output) -> Outcome:
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._process.wait(END_SECONDS)
        if self._group is not None and self._group.is_out_of_memory():
            return Outcome(Ending.BEYOND_LIMIT, reason=usage.beyond_memory(program.memory_mb))
        code = self._reported("exit-code")
        if code is not None:
            return Outcome(Ending.EXITED, exit_code=code)
        if self._process.returncode == -signal.SIGKILL:
            return Outcome(Ending.WORKER_LOST, reason="The sandbox was killed from outside.")
        messages = bytes(output.stderr[:500]).decode("utf-8", "replace").strip().splitlines()
        cause = messages[-1] if messages else f"exit code {self._process.returncode}"
        return Outcome(Ending.NOT_STARTED, reason=f"The sandbox could not be set up: {cause}")


def _memory_file(stack: ExitStack, content: bytes) -> int:
    """Return a file descriptor for a sealed file in memory, positioned at its beginning."""
    fd = os.memfd_create("input", os.MFD_CLOEXEC | os.MFD_ALLOW_SEALING)
    stack.callback(os.close, fd)
    with open(fd, "wb", closefd=False) as file:
        file.write(content)
    os.lseek(fd, 0, os.SEEK_SET)
    fcntl.fcntl(fd, fcntl.F_ADD_SEALS, SEALS)
    return fd


def _drain(fd: int) -> None:
    """Read until end of file, which comes when the sandbox's last process ends."""
    while os.read(fd, CHUNK_BYTES):
        pass
