"""A whole gateway of its own, started as `make run` starts it: database, server, worker and scheduler."""

import contextlib
import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from tests.journeys.caller import AUDIENCE, DID_PREFIX, ISSUER, Key
from tests.support.upstream import FakeUpstream, closed_port

ROOT = Path(__file__).resolve().parents[2]
CAPABILITIES = ["wallet:read", "usage:read", "billing:checkout", "infer:*"]
PRICE = {"input_token": "0.15", "cached_input_token": "0.075", "output_token": "0.60"}


class House:
    """One running gateway. `stop` is SIGTERM to the supervisor, `restart` finds the data again."""

    def __init__(
        self, folder: Path, config: dict[str, Any], product_key: Key, settings: Mapping[str, str] | None = None
    ) -> None:
        self.folder = folder
        self.settings = dict(settings or {})
        self.product_key = product_key
        self.port = closed_port()
        self.base_url = f"http://127.0.0.1:{self.port}"
        self.config_file = folder / "gateway.yaml"
        self.config_file.write_text(json.dumps(config))  # JSON is YAML
        self.process: subprocess.Popen[str] | None = None

    @property
    def environment(self) -> dict[str, str]:
        kept = {name: os.environ[name] for name in ("PATH", "HOME", "LANG") if name in os.environ}
        place = {"PORT": str(self.port), "DATA_DIR": str(self.folder / "data")}
        return kept | place | {"GATEWAY_CONFIG": str(self.config_file)} | self.settings

    def start(self) -> None:
        self.process = subprocess.Popen(
            [sys.executable, "-m", "gateway.run"],
            cwd=ROOT,
            env=self.environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        assert self.process.stdout is not None
        told = []
        for line in self.process.stdout:
            told.append(line)
            if line.strip() == f"ready: {self.base_url}":
                return
        self.process.communicate()
        raise AssertionError("the gateway did not start:\n" + "".join(told))

    def stop(self) -> None:
        assert self.process is not None
        self.process.send_signal(signal.SIGTERM)
        self.process.communicate(timeout=60)

    def restart(self) -> None:
        self.stop()
        self.start()

    def manage(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "manage.py", *arguments]
        return subprocess.run(command, cwd=ROOT, env=self.environment, capture_output=True, text=True, timeout=120)


def configuration(upstream: FakeUpstream, product_key: Key, grants: dict[str, int]) -> dict[str, Any]:
    """Write what an operator would: one product, one upstream, two aliases, and a credit for each account."""
    return {
        "products": [{"slug": "studio", "name": "Studio", "seat_price_microusd": 20_000_000}],
        "integrations": [
            {
                "product": "studio",
                "issuer": ISSUER,
                "audience": AUDIENCE,
                "did_prefix": DID_PREFIX,
                "capabilities": CAPABILITIES,
                "jwks": {"keys": [{**product_key.jwk, "kid": "k1"}]},
            }
        ],
        "upstreams": [
            {"name": "primary", "adapter": "openai", "base_url": upstream.base_url, "api_key": "sk-upstream"}
        ],
        "aliases": [
            _alias("fast", "small-1", PRICE, max_output_tokens=4096, context_tokens=128_000),
            _alias("embedding", "embed-1", {"input_token": "0.02"}, context_tokens=8192),
            _alias("realtime", "live-1", PRICE),
        ],
        "credits": [
            {"account": DID_PREFIX + name, "amount_microusd": amount, "key": f"welcome-{name}"}
            for name, amount in grants.items()
        ],
    }


def _alias(name: str, model: str, price: dict[str, str], **settings: Any) -> dict[str, Any]:
    deployments = [{"upstream": "primary", "model": model, "priority": 0, "weight": 1}]
    return {"name": name, "enabled": True, "deployments": deployments, "price": price, **settings}


@contextlib.contextmanager
def running(
    folder: Path, config: dict[str, Any], product_key: Key, settings: Mapping[str, str] | None = None
) -> Iterator[House]:
    """Start a gateway, and stop it whatever happens."""
    house = House(folder, config, product_key, settings)
    house.start()
    try:
        yield house
    finally:
        house.stop()
