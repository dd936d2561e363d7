"""The lanes of a run: the same question asked in each place's own way. Those of the gateway are in gateway_lanes.py."""

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from typing import Any

import orjson

from bench.config import MODELS, PLAIN
from bench.load import Target
from bench.peers import LITELLM_KEY, portkey_headers
from bench.processes import LOOPBACK, Process
from bench.servers import UPSTREAM_KEY

MANY = 64
DIRECT = "direct"
LITELLM = "LiteLLM"
PORTKEY = "Portkey"
ONE_WALLET = "gateway, one wallet"
MANY_WALLETS = f"gateway, {MANY} wallets"

CHAT_PATH = "/v1/chat/completions"
MAX_COST_MICROUSD = 1_000
OUTPUT_LIMIT_TOKENS = 64
SYSTEM = (
    "You are a careful assistant of a small museum. Answer visitors briefly and kindly, "
    "name the room where a thing can be seen, and say so when you do not know."
)
QUESTION = "Where do I find the naval instruments, and may my daughter take photographs there?"


class Lane(ABC):
    """One place to send the question to."""

    name: str
    target: Target
    server: Process | None

    def takes(self, *, stream: bool, concurrency: int) -> bool:
        """Return whether the lane is measured with so many of these at once: with all, unless it says otherwise."""
        return True

    def conditions(self) -> AbstractContextManager[None]:
        """Return what must hold while the lane is measured: nothing special, unless it says otherwise."""
        return nullcontext()

    @abstractmethod
    def render(self, count: int, *, stream: bool) -> Sequence[bytes]:
        """Make `count` whole HTTP requests, ready to be written."""


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


class KeyLane(Lane):
    """A place that takes a static bearer key: the upstream itself, the pass-through, a peer."""

    def __init__(
        self,
        name: str,
        port: int,
        *,
        model: str,
        key: str,
        server: Process | None,
        headers: Mapping[str, str] | None = None,
    ) -> None:
        self.name = name
        self.target = Target(LOOPBACK, port)
        self.server = server
        self._model = model
        self._headers = {"Authorization": f"Bearer {key}", **(headers or {})}

    def render(self, count: int, *, stream: bool) -> Sequence[bytes]:
        """Repeat one request: nothing in it must be fresh."""
        return [render_request(body(self._model, stream=stream), self._headers)] * count


def of_revision(name: str, revision: str | None) -> str:
    """Return the name of what another commit has as well; without a commit, it is this version's."""
    return f"{name} ({revision})" if revision else name


def direct_lane(port: int) -> KeyLane:
    """Make the lane that asks the upstream itself: what everything else is compared with."""
    return KeyLane(DIRECT, port, model=MODELS[PLAIN], key=UPSTREAM_KEY, server=None)


def pass_through_lane(port: int, server: Process) -> KeyLane:
    """Make the lane through the proxy without governance."""
    return KeyLane("pass-through", port, model=MODELS[PLAIN], key=UPSTREAM_KEY, server=server)


def litellm_lane(port: int, server: Process) -> KeyLane:
    """Make the lane through LiteLLM's proxy."""
    return KeyLane(LITELLM, port, model=PLAIN, key=LITELLM_KEY, server=server)


def portkey_lane(port: int, upstream: str, server: Process) -> KeyLane:
    """Make the lane through Portkey's gateway."""
    headers = portkey_headers(upstream)
    return KeyLane(PORTKEY, port, model=MODELS[PLAIN], key=UPSTREAM_KEY, server=server, headers=headers)
