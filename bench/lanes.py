"""The lanes of a run: the same question sent to each target in its own format. The gateway's are in
gateway_lanes.py, those of peers in peer_lanes.py."""

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from typing import Any

import orjson

from bench.config import MODELS, PLAIN
from bench.load import Target
from bench.processes import LOOPBACK, Process
from bench.servers import UPSTREAM_KEY

MANY = 64
DIRECT = "direct"
PASS_THROUGH = "pass-through"
LITELLM = "LiteLLM"
PORTKEY = "Portkey"
ONE_WALLET = "gateway, one wallet"
MANY_WALLETS = f"gateway, {MANY} wallets"
THREE_LIMITS = f"{ONE_WALLET}, three limits"
WITH_METRICS = f"{ONE_WALLET}, metrics"
SHARED_LIMITS = f"{MANY_WALLETS}, an alias with three limits"
DIRECT_MESSAGES = f"{DIRECT}, messages"
LITELLM_MESSAGES = f"{LITELLM}, messages"
LITELLM_RUST = f"{LITELLM}, Rust, messages"
ONE_WALLET_MESSAGES = f"{ONE_WALLET}, messages"
MANY_WALLETS_MESSAGES = f"{MANY_WALLETS}, messages"
MESSAGES_LANES = (DIRECT_MESSAGES, LITELLM_MESSAGES, LITELLM_RUST, ONE_WALLET_MESSAGES, MANY_WALLETS_MESSAGES)
"""The lanes of the Messages API, in which all else is as in the others."""

CHAT_PATH = "/v1/chat/completions"
RESPONSES_PATH = "/v1/responses"
MESSAGES_PATH = "/v1/messages"
MAX_COST_MICROUSD = 1_000
OUTPUT_LIMIT_TOKENS = 64
SYSTEM = (
    "You are a careful assistant of a small museum. Answer visitors briefly and kindly, "
    "name the room where a thing can be seen, and say so when you do not know."
)
QUESTION = "Where do I find the naval instruments, and may my daughter take photographs there?"


@dataclass(frozen=True, slots=True)
class Question:
    """The question for one model on one route. `model` is the upstream's own name if it is sent to the upstream."""

    model: str
    path: str = CHAT_PATH
    output_limit_tokens: int = OUTPUT_LIMIT_TOKENS

    def body(self, *, stream: bool) -> bytes:
        """Return the request body for the route."""
        if self.path == CHAT_PATH:
            return body(self.model, stream=stream, output_limit_tokens=self.output_limit_tokens)
        if self.path == MESSAGES_PATH:
            return self._message(stream=stream)
        members = {"instructions": SYSTEM, "input": QUESTION, "max_output_tokens": self.output_limit_tokens}
        return orjson.dumps({"model": self.model, **members, **({"stream": True} if stream else {})})

    def _message(self, *, stream: bool) -> bytes:
        members = {
            "system": SYSTEM,
            "messages": [{"role": "user", "content": QUESTION}],
            "max_tokens": self.output_limit_tokens,
        }
        return orjson.dumps({"model": self.model, **members, **({"stream": True} if stream else {})})


SHORT = Question(PLAIN)
"""The question of the gateway's ordinary lanes: a chat with sixteen words."""


class Lane(ABC):
    """One target for the question. `requests_per_second_max` is the number of requests prepared per second."""

    name: str
    target: Target
    server: Process | None
    requests_per_second_max: int | None = None

    def takes(self, *, stream: bool, concurrency: int) -> bool:
        """Return whether the lane is measured with this kind and concurrency; all of them by default."""
        return True

    def conditions(self) -> AbstractContextManager[None]:
        """Return a context in which the lane is measured; empty by default."""
        return nullcontext()

    @abstractmethod
    def render(self, count: int, *, stream: bool) -> Sequence[bytes]:
        """Build `count` complete HTTP requests, ready to send."""


def body(model: str, *, stream: bool = False, output_limit_tokens: int = OUTPUT_LIMIT_TOKENS) -> bytes:
    """Build the question's body."""
    members: dict[str, Any] = {
        "model": model,
        "messages": [{"role": "system", "content": SYSTEM}, {"role": "user", "content": QUESTION}],
        "max_tokens": output_limit_tokens,
    }
    if stream:
        members |= {"stream": True, "stream_options": {"include_usage": True}}
    return orjson.dumps(members)


def render_request(content: bytes, headers: Mapping[str, str], path: str = CHAT_PATH) -> bytes:
    """Render one HTTP/1.1 request."""
    lines = [f"POST {path} HTTP/1.1", f"Host: {LOOPBACK}", "Content-Type: application/json"]
    lines += [f"Content-Length: {len(content)}", *(f"{name}: {value}" for name, value in headers.items())]
    return "\r\n".join(lines).encode() + b"\r\n\r\n" + content


class KeyLane(Lane):
    """A target with a static bearer key: the upstream itself, the pass-through, a peer."""

    def __init__(
        self,
        name: str,
        port: int,
        *,
        question: Question,
        key: str,
        server: Process | None,
        headers: Mapping[str, str] | None = None,
    ) -> None:
        self.name = name
        self.target = Target(LOOPBACK, port)
        self.server = server
        self._question = question
        self._headers = {"Authorization": f"Bearer {key}", **(headers or {})}

    def render(self, count: int, *, stream: bool) -> Sequence[bytes]:
        """Repeat one request, because nothing in it has to be unique."""
        content = self._question.body(stream=stream)
        return [render_request(content, self._headers, self._question.path)] * count


def of_revision(name: str, revision: str | None) -> str:
    """Return the name of another commit's lane; without a commit, this version's."""
    return f"{name} ({revision})" if revision else name


def direct_lane(port: int) -> KeyLane:
    """Build the lane to the upstream itself, the baseline of all comparisons."""
    return KeyLane(DIRECT, port, question=Question(MODELS[PLAIN]), key=UPSTREAM_KEY, server=None)


def direct_messages_lane(port: int) -> KeyLane:
    """Build the lane to the upstream itself that the other lanes of messages are compared with."""
    question = Question(MODELS[PLAIN], MESSAGES_PATH)
    return KeyLane(DIRECT_MESSAGES, port, question=question, key=UPSTREAM_KEY, server=None)


def pass_through_lane(port: int, server: Process) -> KeyLane:
    """Build the lane through the proxy without governance."""
    return KeyLane(PASS_THROUGH, port, question=Question(MODELS[PLAIN]), key=UPSTREAM_KEY, server=server)
