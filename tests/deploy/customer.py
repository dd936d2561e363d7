"""The product, its customer, and the gateway's configuration of a deployment that is tried from outside."""

import json
import uuid
from dataclasses import dataclass
from typing import Any

import httpx

from bench.servers import UPSTREAM_KEY
from tests.deploy.operator import HOST
from tests.journeys.caller import AUDIENCE, DID_PREFIX, ISSUER, Caller, Key, chat_body
from tests.support.concurrency import eventually

BASE_URL = f"https://{HOST}"
SCOPES = ("wallet:read", "usage:read", "infer:*", "projects:read", "sandbox:run", "sandbox:read")
GRANT_MICROUSD = 5_000_000
RUNS = "/v1/sandbox/runs"
CHAT = "/v1/chat/completions"
RECEIPT = ": service "
QUICK, SHORT, LONG = "fast", "short", "long"
MODELS = {
    QUICK: "small-1",
    SHORT: "small-1?tokens=40&token_delay_ms=100",
    LONG: "small-1?tokens=300&token_delay_ms=200",
}
"""The upstream's model of each alias. A stream of `long` takes longer than DRAIN_SECONDS, one of `short` does not."""


def configuration(product: Key, upstream: str) -> dict[str, Any]:
    """Build gateway.yaml: a product whose customer has money and a project, and the upstream's models at a price."""
    integration = {
        "product": "studio",
        "issuer": ISSUER,
        "audience": AUDIENCE,
        "did_prefix": DID_PREFIX,
        "capabilities": list(SCOPES),
        "jwks": {"keys": [{**product.jwk, "kid": "k1"}]},
    }
    did = f"{DID_PREFIX}alice"
    return {
        "products": [{"slug": "studio", "name": "Studio"}],
        "integrations": [integration],
        "upstreams": [
            {"name": "primary", "adapter": "openai", "base_url": upstream, "api_key": {"env": "PRIMARY_API_KEY"}}
        ],
        "aliases": [_alias(name, model) for name, model in MODELS.items()],
        "projects": [{"key": "docs", "owner": did, "product": "studio", "name": "Docs"}],
        "sandbox": {"runner": "bubblewrap", "max_timeout_seconds": 60, "max_memory_mb": 512, "network": "none"},
        "credits": [{"account": did, "amount_microusd": GRANT_MICROUSD, "key": "welcome-alice"}],
    }


SETTINGS = {"PRIMARY_API_KEY": UPSTREAM_KEY}
"""What the configuration reads from the environment."""


def _alias(name: str, model: str) -> dict[str, Any]:
    return {
        "name": name,
        "max_output_tokens": 4096,
        "context_tokens": 128_000,
        "deployments": [{"upstream": "primary", "model": model, "priority": 0, "weight": 1}],
        "price": {"input_token": "15", "output_token": "60"},
    }


@dataclass(frozen=True)
class Paid:
    """An answer and its receipt. `text` is the whole body; `is_whole` is whether a stream came to its end."""

    status: int
    usage_id: str
    charge_microusd: int
    text: str

    @property
    def is_whole(self) -> bool:
        """Return whether a stream came to its own end."""
        return "data: [DONE]" in self.text


class Customer(Caller):
    """Signs for the public name, whatever address its client connects to. `token` is replaced for each call."""

    def __init__(self, product: Key, http: httpx.Client) -> None:
        super().__init__(BASE_URL, product, "alice")
        self.http.close()
        self.http = http

    def pay(self, *, model: str = QUICK, key: str = "", **members: Any) -> Paid:
        """Make a call and return its receipt."""
        self.sign_in(*SCOPES)
        answer = self.chat(key=key or uuid.uuid4().hex, model=model, **members)
        return self.paid(answer.status_code, answer.headers, answer.text)

    def stream(self, model: str, begun: Any = None) -> Paid:
        """Make a call with a stream, and call `begun` when its first event is there."""
        self.sign_in(*SCOPES)
        lines: list[str] = []
        body = chat_body(model=model, stream=True)
        with self.http.stream("POST", CHAT, json=body, headers=self.paid_headers(CHAT, 1_000_000)) as answer:
            for line in answer.iter_lines():
                if begun and not lines:
                    begun()
                lines.append(line)
        return self.paid(answer.status_code, answer.headers, "\n".join(lines))

    @staticmethod
    def paid(status: int, headers: httpx.Headers, text: str) -> Paid:
        """Read the receipt, of the headers or at the end of the stream."""
        assert status == 200, f"{status}: {text}"
        charge = headers.get("x-service-charge-microusd", "")
        for line in text.splitlines():
            if line.startswith(RECEIPT):
                charge = json.loads(line.removeprefix(RECEIPT))["charge_microusd"]
        return Paid(status, headers["x-service-usage-id"], int(charge), text)

    def available(self) -> int:
        """Return what is left in the wallet, in micro-USD."""
        self.sign_in(*SCOPES)
        return int(self.wallet()["availableMicrousd"])

    def begin_run(self, *command: str) -> str:
        """Queue a program of the project, and return the path of its run."""
        self.sign_in(*SCOPES)
        [project] = self.get("/v1/projects").json()["data"]
        body = {"projectId": project["projectId"], "command": list(command)}
        made = self.http.post(RUNS, json=body, headers=self.headers("POST", RUNS))
        assert made.status_code == 202, made.text
        return f"{RUNS}/{made.json()['runId']}"

    def has_begun(self, path: str) -> bool:
        """Return whether the program of a run has printed something."""
        return bool(self.get(path).json()["stdout"])

    def ended_run(self, path: str) -> dict[str, Any]:
        """Wait for the end of a run, and return it."""
        eventually(lambda: self.get(path).json()["finishedAt"], 120)
        return dict(self.get(path).json())


def is_ready(http: httpx.Client) -> bool:
    """Return whether the server says that it should get requests."""
    try:
        return http.get("/readyz").status_code == 200
    except httpx.TransportError:
        return False
