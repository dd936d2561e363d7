"""The fake upstream beside a server: production takes plain HTTP only from its own loopback interface."""

import subprocess
import sys
from pathlib import Path

from bench.servers import UPSTREAM_KEY
from gateway.run.options import PROJECT_DIR
from tests.deploy.boot.machine import Machine
from tests.support.concurrency import eventually

PORT = 8900
UPSTREAM = f"http://127.0.0.1:{PORT}/v1"


class Beside:
    """An upstream in the network of one container after the other, as a context manager."""

    def __init__(self, machine: Machine, log: Path) -> None:
        self._machine, self._log = machine, log
        self._network: int | None = None
        self._process: subprocess.Popen[bytes] | None = None

    def __enter__(self) -> "Beside":
        return self

    def __exit__(self, *exc: object) -> None:
        if self._process is not None:
            self._process.kill()
            self._process.wait()
            self._process = None

    def follow(self, pid: int) -> None:
        """Serve in the network of a process of the machine, if it is another than before. Returns once it serves."""
        network = self._machine.path(f"/proc/{pid}/ns/net")
        if pid == 0 or network.stat().st_ino == self._network:
            return
        self.__exit__()
        self._network = network.stat().st_ino
        command = (sys.executable, "-m", "tests.support.upstream", "--port", str(PORT), "--api-key", UPSTREAM_KEY)
        with self._log.open("ab") as log:
            self._process = subprocess.Popen(
                ["nsenter", f"--net={network}", *command], cwd=PROJECT_DIR, stdout=log, stderr=log
            )
        knock = ["nsenter", f"--net={network}", "bash", "-c", f"exec 3<>/dev/tcp/127.0.0.1/{PORT}"]
        eventually(lambda: subprocess.run(knock, stderr=subprocess.DEVNULL, check=False).returncode == 0)
