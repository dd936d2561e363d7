"""Keeps a gateway's processes running, and ends them all together."""

import signal
import subprocess
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from gateway.run.children import signal_group, spawn
from gateway.run.errors import StartError
from gateway.run.options import PROJECT_DIR
from gateway.run.output import Output
from gateway.run.restarts import Restarts, describe
from gateway.run.services import SERVER, Service

STOP_SECONDS = 22.0
"""How long processes may take to stop, with the default settings."""


@dataclass(slots=True)
class Child:
    """One service and its current process, if any."""

    service: Service
    process: subprocess.Popen[bytes] | None = None
    restarts: Restarts = field(default_factory=Restarts)

    @property
    def is_running(self) -> bool:
        return self.process is not None and self.process.poll() is None


class Supervisor:
    """Starts services, restarts those that end, and gives up on one that keeps failing."""

    def __init__(
        self, services: Sequence[Service], say: Callable[[str], None], stop_seconds: float = STOP_SECONDS
    ) -> None:
        self.output = Output()
        self._children = [Child(service) for service in services]
        self._say = say
        self._stop_seconds = stop_seconds

    def pids(self) -> Mapping[str, int]:
        """Return the process ids by service; each process leads a process group."""
        return {child.service.name: child.process.pid for child in self._children if child.process}

    def add(self, services: Sequence[Service]) -> None:
        """Also run these services, starting with the next tick."""
        self._children += [Child(service) for service in services]

    def tick(self, seconds: float) -> bool:
        """Forward output for up to `seconds` and restart what ended; return whether a process was started."""
        self.output.pump(seconds)
        now = time.monotonic()
        for child in self._children:
            if child.process is not None and not child.is_running:
                self._handle_exit(child, child.process, now)
        due = [child for child in self._children if child.process is None and child.restarts.due_at <= now]
        for child in due:
            self._start(child, now)
        return bool(due)

    def stop(self, is_urgent: Callable[[], bool], *, is_interrupted: bool = False) -> None:
        """End every process: send a signal, wait while it drains, then kill what is left of its group.

        After an interrupt (Ctrl-C), servers are interrupted too, with their workers, and so serve nothing new from then on.
        """
        running = [child.process for child in self._children if child.process]
        for child in self._children:
            if child.process and child.is_running:
                is_server = is_interrupted and child.service.name == SERVER
                how = signal.SIGINT if is_server else signal.SIGTERM
                signal_group(child.process.pid, how, leader_only=not is_server)
        deadline = time.monotonic() + self._stop_seconds
        while any(process.poll() is None for process in running) and time.monotonic() < deadline and not is_urgent():
            self.output.pump(0.05)
        for process in running:
            signal_group(process.pid, signal.SIGKILL)
            process.wait()
        self.output.pump(0)

    def _start(self, child: Child, now: float) -> None:
        service = child.service
        child.process = spawn(
            service.command,
            environment=service.environment,
            directory=PROJECT_DIR,
            output=subprocess.PIPE,
            file_descriptors=service.file_descriptors,
        )
        assert child.process.stdout is not None
        self.output.attach(service.name, child.process.stdout)
        child.restarts.started_at = now

    def _handle_exit(self, child: Child, process: subprocess.Popen[bytes], now: float) -> None:
        """Clean up an ended process with its group, and restart its service later unless it keeps failing."""
        signal_group(process.pid, signal.SIGKILL)
        self.output.pump(0)
        name, how = child.service.name, describe(process.returncode)
        if not child.restarts.ended(process.returncode, now):
            raise StartError(f"The {name} keeps failing ({how}): {self.output.last_line(name)}")
        child.process = None
        self._say(f"the {name} stopped ({how}); restarting it")
