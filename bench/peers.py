"""The gateways to compare with, each in its own environment."""

from pathlib import Path
from typing import Any

import yaml

from bench.config import MODELS, PLAIN
from bench.processes import LOOPBACK, ROOT, Process, answers
from gateway.run.ports import free_port

LITELLM_KEY = "sk-bench-peer"
LITELLM_PROGRAM = ROOT / ".venv-peers" / "bin" / "litellm"
PORTKEY_PROGRAM = ROOT / "bench" / "node_modules" / "@portkey-ai" / "gateway" / "build" / "start-server.js"


class LiteLLMServer(Process):
    """LiteLLM's proxy with one static key and no database, as in its quick start."""

    def __init__(self, directory: Path, upstream: str, upstream_key: str, workers: int) -> None:
        self.port = free_port()
        config = directory / "litellm.yaml"
        config.write_text(yaml.safe_dump(_litellm_configuration(upstream, upstream_key)))
        flags = [f"--config={config}", f"--host={LOOPBACK}", f"--port={self.port}", f"--num_workers={workers}"]
        super().__init__(
            [str(LITELLM_PROGRAM), *flags, "--telemetry=False"],
            log=directory / "litellm.log",
            environment={"LITELLM_LOCAL_MODEL_COST_MAP": "True", "LITELLM_LOG": "ERROR"},
            is_ready=answers(f"http://{LOOPBACK}:{self.port}/health/liveliness"),
        )

    @staticmethod
    def is_installed() -> bool:
        """Return whether the peers' environment exists."""
        return LITELLM_PROGRAM.exists()


class PortkeyServer(Process):
    """Portkey's gateway, which forwards to the host in a request's headers and has no governance."""

    def __init__(self, directory: Path) -> None:
        self.port = free_port()
        super().__init__(
            ["node", str(PORTKEY_PROGRAM), f"--port={self.port}", "--headless"],
            log=directory / "portkey.log",
            environment={"TRUSTED_CUSTOM_HOSTS": LOOPBACK, "NODE_ENV": "production"},
            is_ready=answers(f"http://{LOOPBACK}:{self.port}/"),
        )

    @staticmethod
    def is_installed() -> bool:
        """Return whether its package was installed."""
        return PORTKEY_PROGRAM.exists()


def portkey_headers(upstream: str) -> dict[str, str]:
    """Return the headers with the destination for Portkey's gateway."""
    return {"x-portkey-provider": "openai", "x-portkey-custom-host": f"{upstream}/v1"}


def _litellm_configuration(upstream: str, upstream_key: str) -> dict[str, Any]:
    model = {"model": f"openai/{MODELS[PLAIN]}", "api_base": f"{upstream}/v1", "api_key": upstream_key}
    return {
        "model_list": [{"model_name": PLAIN, "litellm_params": model}],
        "general_settings": {"master_key": LITELLM_KEY},
        "litellm_settings": {"telemetry": False},
    }
