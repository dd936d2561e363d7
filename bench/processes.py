"""Child processes of a run: started with a log, watched until ready, measured, and always stopped."""

import contextlib
import os
import platform
import shlex
import signal
import socket
import subprocess
import sysconfig
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Self

import psutil
import requests

ROOT = Path(__file__).resolve().parent.parent
LOOPBACK = "127.0.0.1"
START_SECONDS = 120.0
STOP_SECONDS = 30.0
POLL_SECONDS = 0.1
LOG_TAIL_LINES = 15
MEBIBYTE = 1024 * 1024
SERVER = "server"
DATABASE = "database"
UPSTREAM = "upstream"
ROLES = {
    "uvicorn": SERVER,
    "gateway.server": SERVER,
    "multiprocessing": SERVER,
    "gateway.metrics": "metrics",
    "celery": "jobs",
    "postgres": DATABASE,
    "litellm": SERVER,
    "portkey": SERVER,
    "bench.passthrough": SERVER,
    "bench.paced_upstream": UPSTREAM,
    "tests.support.upstream": UPSTREAM,
    "gateway.run": "supervisor",
}
"""The role of a process, by a word in its command line."""


class Process:
    """One server process with its children, as a context manager."""

    def __init__(
        self,
        command: Sequence[str],
        *,
        log: Path,
        environment: Mapping[str, str],
        is_ready: Callable[[], bool],
        directory: Path = ROOT,
    ) -> None:
        self._command = command
        self._directory = directory
        self._log = log
        self._environment = {**os.environ, **environment}
        self._is_ready = is_ready

    def __enter__(self) -> Self:
        with self._log.open("wb") as log:
            self._child = subprocess.Popen(
                self._command,
                cwd=self._directory,
                env=self._environment,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                start_new_session=True,
            )
        try:
            self._await_readiness()
        except BaseException:
            self.stop()
            raise
        return self

    def __exit__(self, *exc: object) -> None:
        self.stop()

    def stop(self) -> None:
        """Terminate the process, and kill what is left of its group after a timeout."""
        family = self._family()
        if self._child.poll() is None:
            self._child.send_signal(signal.SIGTERM)
        _, left = psutil.wait_procs(family, timeout=STOP_SECONDS)
        for process in left:
            process.kill()
        self._child.wait()

    def server_mebibytes(self) -> float:
        """Measure the resident memory of the largest process that serves requests."""
        return resident_bytes(self.serving()) / MEBIBYTE

    def serving(self) -> list[psutil.Process]:
        """List the processes that serve requests."""
        found = []
        for process in self._family():
            with contextlib.suppress(psutil.NoSuchProcess):
                found += [process] if describe(process) == SERVER else []
        return found

    def cpu_seconds(self) -> dict[str, float]:
        """Measure the processor time of this server's processes, by role.

        A process that has ended is counted with its parent, as database connections are with their server.
        """
        taken: dict[str, float] = {}
        for process in self._family():
            with contextlib.suppress(psutil.NoSuchProcess):
                times = process.cpu_times()  # user, system, and both of the children that have ended
                role = describe(process)
                taken[role] = taken.get(role, 0.0) + sum(times[:4])
        return taken

    def log_tail(self) -> str:
        """Return the last lines that the server wrote."""
        lines = self._log.read_text(errors="replace").splitlines()
        return "\n".join(lines[-LOG_TAIL_LINES:])

    def _await_readiness(self) -> None:
        until = time.monotonic() + START_SECONDS
        while not self._is_ready():
            if self._child.poll() is not None:
                raise RuntimeError(f"{self._command[:4]} ended with {self._child.returncode}:\n{self.log_tail()}")
            if time.monotonic() > until:
                raise RuntimeError(f"{self._command[:4]} was not ready in time:\n{self.log_tail()}")
            time.sleep(POLL_SECONDS)

    def _family(self) -> list[psutil.Process]:
        try:
            parent = psutil.Process(self._child.pid)
            return [parent, *parent.children(recursive=True)]
        except psutil.NoSuchProcess:
            return []


def resident_bytes(processes: Sequence[psutil.Process]) -> int:
    """Measure the resident memory of the largest of these processes; it takes some microseconds for each."""
    return max(map(_resident_bytes, processes), default=0)


def _resident_bytes(process: psutil.Process) -> int:
    try:
        return int(process.memory_info().rss)
    except psutil.NoSuchProcess:
        return 0


def describe(process: psutil.Process) -> str:
    """Return the role of a process, by the first known word in its command line; a spawned worker counts as a
    server."""
    words = " ".join(process.cmdline())
    return next((role for word, role in ROLES.items() if word in words), process.name())


def describe_machine() -> str:
    """Describe this machine, and the Python of all servers that are started with this one, for a report."""
    python = describe_python(platform.python_version(), sysconfig.get_config_var("CONFIG_ARGS"))
    return f"{os.cpu_count()} cores, {platform.system()}, {python}"


def describe_python(version: str, arguments: str | None) -> str:
    """Return the version of a Python and, by its configure arguments, whether it was built with profile-guided and with
    link-time optimization."""
    if not arguments:
        return f"Python {version} (built in an unknown way)"
    given = shlex.split(arguments)
    with_pgo = "--enable-optimizations" in given
    with_lto = any(each.startswith("--with-lto") and each != "--with-lto=no" for each in given)
    return f"Python {version} ({'with' if with_pgo else 'without'} PGO, {'with' if with_lto else 'without'} LTO)"


def answers(url: str) -> Callable[[], bool]:
    """Return a check whether a URL responds with 200."""

    def check() -> bool:
        try:
            return requests.get(url, timeout=2).status_code == 200
        except requests.RequestException:
            return False

    return check


def listens(port: int) -> Callable[[], bool]:
    """Return a check whether a local port is listening."""

    def check() -> bool:
        with socket.socket() as probe:
            return probe.connect_ex((LOOPBACK, port)) == 0

    return check
