"""The servers of a run: the fake upstream, the gateway, and what it is compared with."""

import os
import secrets
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import requests
import yaml
from cryptography.fernet import Fernet

from bench.config import MODELS, PLAIN
from bench.load import Target
from bench.processes import ROOT, Process, answers, free_port
from gateway.run.environment import load

LOOPBACK = "127.0.0.1"
UPSTREAM_KEY = "sk-bench-upstream"
LITELLM_KEY = "sk-bench-peer"
LITELLM_PROGRAM = ROOT / ".venv-peers" / "bin" / "litellm"
GATEWAY_BASE_URL = "https://gateway.bench.example"
"""The public address that proofs name; production refuses one without TLS."""


class UpstreamServer(Process):
    """The fake upstream in a process of its own."""

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


class LiteLLMServer(Process):
    """LiteLLM's proxy with one static key and no database, as its quick start has it."""

    def __init__(self, directory: Path, upstream: str, workers: int) -> None:
        self.port = free_port()
        config = directory / "litellm.yaml"
        config.write_text(yaml.safe_dump(_litellm_configuration(upstream)))
        flags = [f"--config={config}", f"--host={LOOPBACK}", f"--port={self.port}", f"--num_workers={workers}"]
        super().__init__(
            [str(LITELLM_PROGRAM), *flags, "--telemetry=False"],
            log=directory / "litellm.log",
            environment={"LITELLM_LOCAL_MODEL_COST_MAP": "True", "LITELLM_LOG": "ERROR"},
            is_ready=answers(f"http://{LOOPBACK}:{self.port}/health/liveliness"),
        )

    @staticmethod
    def is_installed() -> bool:
        """Tell whether the peers' environment was made."""
        return LITELLM_PROGRAM.exists()


@dataclass(frozen=True, slots=True)
class GatewaySettings:
    """How the gateway under test is started."""

    workers: int
    ledger_commit: str
    database_pool: int


class GatewayServer(Process):
    """The gateway as an operator runs it: its own supervisor, database and workers, every commit flushed."""

    def __init__(self, directory: Path, config: Path, settings: GatewaySettings) -> None:
        self.port = free_port()
        self.target = Target(LOOPBACK, self.port)
        self.data_dir = directory / "data"
        self.environment = _gateway_environment(self.port, self.data_dir, config, settings)
        super().__init__(
            [sys.executable, "-m", "gateway.run"],
            log=directory / "gateway.log",
            environment=self.environment,
            is_ready=answers(f"http://{LOOPBACK}:{self.port}/healthz"),
        )

    @property
    def url(self) -> str:
        """Give the address at which this machine reaches the gateway."""
        return f"http://{LOOPBACK}:{self.port}"

    @property
    def database_url(self) -> str:
        """Give the address of the run's own database."""
        return load(self.data_dir)["DATABASE_URL"]

    def manage(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        """Run one of the gateway's commands against this run's database."""
        command = [sys.executable, "manage.py", *arguments]
        environment = {**os.environ, **self.environment, "DATABASE_URL": self.database_url}
        return subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False)


def _gateway_environment(port: int, data_dir: Path, config: Path, settings: GatewaySettings) -> Mapping[str, str]:
    return {
        "GATEWAY_ENV": "production",
        "GATEWAY_BASE_URL": GATEWAY_BASE_URL,
        "GATEWAY_CONFIG": str(config),
        "HOST": LOOPBACK,
        "PORT": str(port),
        "DATA_DIR": str(data_dir),
        "WEB_CONCURRENCY": str(settings.workers),
        "LEDGER_COMMIT": settings.ledger_commit,
        "LEDGER_POOL_MAX_CONNECTIONS": str(settings.database_pool),
        "SECRET_KEY": secrets.token_urlsafe(48),
        "FIELD_ENCRYPTION_KEYS": Fernet.generate_key().decode(),
        # A developer's own database must be neither measured nor written to.
        "DATABASE_URL": "",
    }


def _litellm_configuration(upstream: str) -> dict[str, Any]:
    model = {"model": f"openai/{MODELS[PLAIN]}", "api_base": f"{upstream}/v1", "api_key": UPSTREAM_KEY}
    return {
        "model_list": [{"model_name": PLAIN, "litellm_params": model}],
        "general_settings": {"master_key": LITELLM_KEY},
        "litellm_settings": {"telemetry": False},
    }
