"""The gateways to compare with, each in its own environment."""

import json
import subprocess
from pathlib import Path
from typing import Any

import yaml

from bench.config import MODELS, PLAIN, PLAIN_MESSAGES
from bench.processes import LOOPBACK, ROOT, Process, answers, describe_python
from gateway.run.ports import free_port

LITELLM_KEY = "sk-bench-peer"
PEERS = ROOT / ".venv-peers" / "bin"
LITELLM_PROGRAM = PEERS / "litellm"
PORTKEY = ROOT / "bench" / "node_modules" / "@portkey-ai" / "gateway"
PORTKEY_PROGRAM = PORTKEY / "build" / "start-server.js"
VERSIONS = """
import importlib.metadata, json, platform, sysconfig
print(json.dumps([importlib.metadata.version("litellm"), platform.python_version(), sysconfig.get_config_var("CONFIG_ARGS")]))
"""


class LiteLLMServer(Process):
    """LiteLLM's proxy with one static key and no database, as in its quick start; with its Rust core for messages or without."""

    def __init__(
        self, directory: Path, upstream: str, upstream_key: str, workers: int, *, has_rust: bool = False
    ) -> None:
        self.port = free_port()
        name = "litellm_rust" if has_rust else "litellm"
        config = directory / f"{name}.yaml"
        config.write_text(yaml.safe_dump(_litellm_configuration(upstream, upstream_key)))
        flags = [f"--config={config}", f"--host={LOOPBACK}", f"--port={self.port}", f"--num_workers={workers}"]
        super().__init__(
            [str(LITELLM_PROGRAM), *flags],
            log=directory / f"{name}.log",
            environment={
                "LITELLM_LOCAL_MODEL_COST_MAP": "True",
                "LITELLM_LOG": "ERROR",
                "LITELLM_MODE": "PRODUCTION",
                "LITELLM_RUST": str(has_rust),
                "LITELLM_TELEMETRY_DISABLED": "True",
            },
            is_ready=answers(f"http://{LOOPBACK}:{self.port}/health/liveliness"),
        )

    @staticmethod
    def is_installed() -> bool:
        """Return whether the peers' environment exists."""
        return LITELLM_PROGRAM.exists()

    @staticmethod
    def describe() -> str:
        """Return its version and that of its Python."""
        version, python, arguments = json.loads(_output(PEERS / "python", "-c", VERSIONS))
        return f"LiteLLM {version} on {describe_python(python, arguments)}"


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

    @staticmethod
    def describe() -> str:
        """Return its version and that of its Node.js."""
        version = json.loads((PORTKEY / "package.json").read_text())["version"]
        return f"Portkey's gateway {version} on Node.js {_output('node', '--version').removeprefix('v')}"


def portkey_headers(upstream: str) -> dict[str, str]:
    """Return the headers with the destination for Portkey's gateway."""
    return {"x-portkey-provider": "openai", "x-portkey-custom-host": f"{upstream}/v1"}


def _litellm_configuration(upstream: str, upstream_key: str) -> dict[str, Any]:
    chats = {"model": f"openai/{MODELS[PLAIN]}", "api_base": f"{upstream}/v1", "api_key": upstream_key}
    messages = {"model": f"anthropic/{MODELS[PLAIN]}", "api_base": upstream, "api_key": upstream_key}
    return {
        "model_list": [
            {"model_name": PLAIN, "litellm_params": chats},
            {"model_name": PLAIN_MESSAGES, "litellm_params": messages},
        ],
        "general_settings": {"master_key": LITELLM_KEY},
    }


def _output(*command: str | Path) -> str:
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()
