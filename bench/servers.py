"""The servers of every run: the fake upstream, and a proxy without governance."""

import sys
from pathlib import Path
from typing import Any

import requests

from bench.processes import LOOPBACK, Process, answers
from gateway.run.ports import free_port

UPSTREAM_KEY = "sk-bench-upstream"
GATEWAY_BASE_URL = "https://gateway.bench.example"
"""The public address in proofs; production refuses one without TLS."""


class UpstreamServer(Process):
    """The fake upstream in its own process."""

    def __init__(self, directory: Path) -> None:
        self.port = free_port()
        self.origin = f"http://{LOOPBACK}:{self.port}"
        command = [sys.executable, "-m", "tests.support.upstream", f"--port={self.port}"]
        super().__init__(
            [*command, f"--api-key={UPSTREAM_KEY}", "--forget-bodies"],
            log=directory / "upstream.log",
            environment={},
            is_ready=answers(f"{self.origin}/v1/models"),
        )

    def reset(self) -> None:
        """Empty the upstream's ledger."""
        requests.post(f"{self.origin}/_reset", timeout=10).raise_for_status()

    def ledger(self) -> list[dict[str, Any]]:
        """Read every entry of the upstream's ledger."""
        answer = requests.get(f"{self.origin}/_ledger", timeout=60)
        answer.raise_for_status()
        return list(answer.json()["data"])


class PassThroughServer(Process):
    """The pass-through proxy without governance."""

    def __init__(self, directory: Path, upstream: str) -> None:
        self.port = free_port()
        super().__init__(
            [sys.executable, "-m", "bench.passthrough", f"--port={self.port}", f"--upstream={upstream}"],
            log=directory / "passthrough.log",
            environment={},
            is_ready=answers(f"http://{LOOPBACK}:{self.port}/v1/models"),
        )
