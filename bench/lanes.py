"""The lanes of a run: the same question asked in each place's own way."""

import itertools
from collections.abc import Mapping, Sequence
from typing import Any, Protocol

import orjson

from bench.config import MODELS, PLAIN
from bench.identity import Customer, ProductServer
from bench.load import Target
from bench.processes import Process
from bench.proofs import fresh_key
from bench.servers import GATEWAY_BASE_URL, LITELLM_KEY, LOOPBACK, UPSTREAM_KEY, GatewayServer

CHAT_PATH = "/v1/chat/completions"
MAX_COST_MICROUSD = 1_000
OUTPUT_LIMIT_TOKENS = 64
SYSTEM = (
    "You are a careful assistant of a small museum. Answer visitors briefly and kindly, "
    "name the room where a thing can be seen, and say so when you do not know."
)
QUESTION = "Where do I find the naval instruments, and may my daughter take photographs there?"


class Lane(Protocol):
    """One place to send the question to."""

    name: str
    target: Target
    server: Process | None

    def render(self, count: int, *, stream: bool) -> Sequence[bytes]:
        """Make `count` whole HTTP requests, ready to be written."""
        ...


def body(model: str, *, stream: bool = False) -> bytes:
    """Ask the question."""
    asked: dict[str, Any] = {
        "model": model,
        "messages": [{"role": "system", "content": SYSTEM}, {"role": "user", "content": QUESTION}],
        "max_tokens": OUTPUT_LIMIT_TOKENS,
    }
    if stream:
        asked |= {"stream": True, "stream_options": {"include_usage": True}}
    return orjson.dumps(asked)


def render_request(content: bytes, headers: Mapping[str, str]) -> bytes:
    """Lay out one HTTP/1.1 request."""
    lines = [f"POST {CHAT_PATH} HTTP/1.1", f"Host: {LOOPBACK}", "Content-Type: application/json"]
    lines += [f"Content-Length: {len(content)}", *(f"{name}: {value}" for name, value in headers.items())]
    return "\r\n".join(lines).encode() + b"\r\n\r\n" + content


class KeyLane:
    """A place that takes a static bearer key: the upstream itself, the pass-through, LiteLLM."""

    def __init__(self, name: str, port: int, *, model: str, key: str, server: Process | None) -> None:
        self.name = name
        self.target = Target(LOOPBACK, port)
        self.server = server
        self._model = model
        self._headers = {"Authorization": f"Bearer {key}"}

    def render(self, count: int, *, stream: bool) -> Sequence[bytes]:
        """Repeat one request: nothing in it must be fresh."""
        return [render_request(body(self._model, stream=stream), self._headers)] * count


class GatewayLane:
    """The gateway: every request has a fresh proof and idempotency key, its customers take turns."""

    def __init__(
        self, name: str, gateway: GatewayServer, product_server: ProductServer, customers: Sequence[Customer]
    ) -> None:
        self.name = name
        self.target = gateway.target
        self.server: Process | None = gateway
        self.customers = customers
        self._gateway = gateway
        self._product_server = product_server

    def render(self, count: int, *, stream: bool) -> Sequence[bytes]:
        """Sign `count` requests now, a turn of each customer after another."""
        share = -(-count // len(self.customers))
        content = body(PLAIN, stream=stream)
        signed = [
            [render_request(content, headers) for headers in self.sign(customer, share)] for customer in self.customers
        ]
        turns = itertools.chain.from_iterable(zip(*signed, strict=True))
        return list(itertools.islice(turns, count))

    def sign(self, customer: Customer, count: int) -> list[dict[str, str]]:
        """Make the headers of `count` metered calls of one customer."""
        self._product_server.sign_in(customer, self._gateway.url)
        proofs = customer.key.sign_proofs(
            method="POST", url=f"{GATEWAY_BASE_URL}{CHAT_PATH}", token=customer.token, count=count
        )
        return [
            {
                "Authorization": f"DPoP {customer.token}",
                "DPoP": proof.decode(),
                "Idempotency-Key": fresh_key(customer.name),
                "x-service-max-cost-microusd": str(MAX_COST_MICROUSD),
            }
            for proof in proofs
        ]


def direct_lane(port: int) -> KeyLane:
    """Make the lane that asks the upstream itself: what everything else is compared with."""
    return KeyLane("direct", port, model=MODELS[PLAIN], key=UPSTREAM_KEY, server=None)


def pass_through_lane(port: int, server: Process) -> KeyLane:
    """Make the lane through the proxy without governance."""
    return KeyLane("pass-through", port, model=MODELS[PLAIN], key=UPSTREAM_KEY, server=server)


def litellm_lane(port: int, server: Process) -> KeyLane:
    """Make the lane through LiteLLM's proxy."""
    return KeyLane("LiteLLM", port, model=PLAIN, key=LITELLM_KEY, server=server)
