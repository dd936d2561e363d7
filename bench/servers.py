"""The servers of a run beside the gateway: the upstreams, and a proxy without governance."""

import sys
from pathlib import Path
from typing import Any

import requests

from bench.load import Target
from bench.processes import LOOPBACK, Process, answers
from gateway.run.ports import free_port

UPSTREAM_KEY = "sk-bench-upstream"
GATEWAY_BASE_URL = "https://gateway.bench.example"
"""The public address in proofs; production refuses one without TLS."""


LEDGER_SECONDS = 600
"""How long a ledger of some hundred thousand calls may take to come, on a machine that has other work."""


class LedgerServer(Process):
    """An upstream with a ledger of its own, run as a module in its own process."""

    def __init__(self, module: str, log: Path, *options: str) -> None:
        self.port = free_port()
        self.target = Target(LOOPBACK, self.port)
        self.origin = f"http://{LOOPBACK}:{self.port}"
        super().__init__(
            [sys.executable, "-m", module, f"--port={self.port}", *options],
            log=log,
            environment={},
            is_ready=answers(f"{self.origin}/v1/models"),
        )

    def reset(self) -> None:
        """Empty the upstream's ledger."""
        requests.post(f"{self.origin}/_reset", timeout=10).raise_for_status()

    def ledger(self) -> list[dict[str, Any]]:
        """Read every entry of the upstream's ledger."""
        answer = requests.get(f"{self.origin}/_ledger", timeout=LEDGER_SECONDS)
        answer.raise_for_status()
        return list(answer.json()["data"])


class UpstreamServer(LedgerServer):
    """The fake upstream."""

    def __init__(self, directory: Path) -> None:
        log = directory / "upstream.log"
        super().__init__("tests.support.upstream", log, f"--api-key={UPSTREAM_KEY}", "--forget-bodies")


class PacedUpstreamServer(LedgerServer):
    """The upstream with paced streams."""

    def __init__(self, directory: Path) -> None:
        super().__init__("bench.paced_upstream", directory / "paced_upstream.log")


class PassThroughServer(Process):
    """The pass-through proxy without governance."""

    def __init__(self, directory: Path, upstream: str, name: str = "passthrough") -> None:
        self.port = free_port()
        super().__init__(
            [sys.executable, "-m", "bench.passthrough", f"--port={self.port}", f"--upstream={upstream}"],
            log=directory / f"{name}.log",
            environment={},
            is_ready=answers(f"http://{LOOPBACK}:{self.port}/v1/models"),
        )
