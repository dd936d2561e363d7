"""The lanes of peers: chats, and messages that LiteLLM answers in Python or in Rust."""

import argparse
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from functools import cached_property
from pathlib import Path
from typing import Protocol, TypeVar

import requests

from bench.config import MODELS, PLAIN, PLAIN_MESSAGES
from bench.lanes import (
    LITELLM,
    LITELLM_MESSAGES,
    LITELLM_RUST,
    MESSAGES_PATH,
    PORTKEY,
    KeyLane,
    Lane,
    Question,
)
from bench.peers import LITELLM_KEY, LiteLLMServer, PortkeyServer, portkey_headers
from bench.processes import LOOPBACK, Process
from bench.servers import UPSTREAM_KEY, UpstreamServer

S = TypeVar("S", bound=Process)
KINDS = {False: "JSON", True: "streams"}
RUST_HEADER = "x-litellm-rust"
ANSWER_SECONDS = 60
GOVERNED = "LiteLLM with keys and budgets, because the query engine of Prisma, through which it reads its database, is in no package registry"
MESSAGES_QUESTION = Question(PLAIN_MESSAGES, MESSAGES_PATH)


class RustLane(KeyLane):
    """LiteLLM's messages, translated and sent by its Rust core, in the kinds of requests that this core takes over.

    LiteLLM answers in Python, and without an error, what its Rust core declines. Only a response header says which of them
    answered; so each measurement is preceded and followed by a request of every kind, and ends the run if that was Python.
    """

    def __init__(self, port: int, kinds: Collection[bool], server: LiteLLMServer | None) -> None:
        super().__init__(LITELLM_RUST, port, question=MESSAGES_QUESTION, key=LITELLM_KEY, server=server)
        self._kinds = kinds

    def takes(self, *, stream: bool, concurrency: int) -> bool:
        return stream in self._kinds

    @contextmanager
    def conditions(self) -> Iterator[None]:
        """Confirm before and after it that the Rust core answers."""
        self._confirm()
        yield
        self._confirm()

    def _confirm(self) -> None:
        for stream in self._kinds:
            if not answered_by_rust(self.target.port, stream=stream):
                raise RuntimeError(f"{self.name}: {KINDS[stream]} were answered in Python")


class Start(Protocol):
    """Starts a server that is stopped at the end of the run."""

    def __call__(self, name: str, server: S, /) -> S: ...


class PeerLanes:
    """Starts the peers that are installed, and builds their lanes. It collects in `skipped` and `versions` what the report prints."""

    def __init__(self, options: argparse.Namespace, directory: Path, upstream: UpstreamServer, start: Start) -> None:
        self._options = options
        self._directory = directory
        self._upstream = upstream
        self._start = start
        self.skipped: list[str] = []
        self.versions: list[str] = []

    def litellm(self) -> list[Lane]:
        """Return the lane of chats through LiteLLM, if it is installed."""
        server = self._litellm
        if server is None:
            return []
        return [KeyLane(LITELLM, server.port, question=Question(PLAIN), key=LITELLM_KEY, server=server)]

    def litellm_messages(self) -> list[Lane]:
        """Return the lanes of messages through LiteLLM, if it is installed: in Python, and where it can in Rust."""
        server = self._litellm
        if server is None:
            return []
        plain = KeyLane(LITELLM_MESSAGES, server.port, question=MESSAGES_QUESTION, key=LITELLM_KEY, server=server)
        return [plain, *self._litellm_rust()]

    def portkey(self) -> list[Lane]:
        """Return the lane of chats through Portkey's gateway, if it is installed."""
        if not self._has("Portkey", is_installed=PortkeyServer.is_installed()):
            return []
        server = self._start("Portkey's gateway", PortkeyServer(self._directory))
        self.versions.append(PortkeyServer.describe())
        return [portkey_lane(server.port, self._upstream.origin, server)]

    @cached_property
    def _litellm(self) -> LiteLLMServer | None:
        """The server without the Rust core, which two lanes share; None if it is not installed."""
        if not self._has(LITELLM, is_installed=LiteLLMServer.is_installed()):
            return None
        self.versions.append(LiteLLMServer.describe())
        self.skipped.append(GOVERNED)
        return self._start(LITELLM, self._new_litellm(has_rust=False))

    def _litellm_rust(self) -> list[Lane]:
        server = self._start("LiteLLM with its Rust core", self._new_litellm(has_rust=True))
        kinds = [stream for stream in KINDS if answered_by_rust(server.port, stream=stream)]
        declined = [KINDS[stream] for stream in KINDS if stream not in kinds]
        self.skipped += [f"{LITELLM_RUST} as {name}, which it answered in Python" for name in declined]
        if not kinds:
            server.stop()
            return []
        return [RustLane(server.port, kinds, server)]

    def _new_litellm(self, *, has_rust: bool) -> LiteLLMServer:
        origin, workers = self._upstream.origin, self._options.workers
        return LiteLLMServer(self._directory, origin, UPSTREAM_KEY, workers, has_rust=has_rust)

    def _has(self, name: str, *, is_installed: bool) -> bool:
        if not is_installed:
            if self._options.peers:
                raise SystemExit(f"bench: {name} is not installed; `make bench-peers` makes its environment.")
            self.skipped.append(f"{name}, whose environment `make bench-peers` makes")
        return is_installed


def portkey_lane(port: int, upstream: str, server: Process) -> KeyLane:
    """Build the lane through Portkey's gateway."""
    headers = portkey_headers(upstream)
    return KeyLane(PORTKEY, port, question=Question(MODELS[PLAIN]), key=UPSTREAM_KEY, server=server, headers=headers)


def answered_by_rust(port: int, *, stream: bool) -> bool:
    """Send the question to LiteLLM and return whether its Rust core answered; requests' errors if nobody did."""
    headers = {"Authorization": f"Bearer {LITELLM_KEY}", "Content-Type": "application/json"}
    content = MESSAGES_QUESTION.body(stream=stream)
    url = f"http://{LOOPBACK}:{port}{MESSAGES_PATH}"
    answer = requests.post(url, data=content, headers=headers, timeout=ANSWER_SECONDS)
    answer.raise_for_status()
    return answer.headers.get(RUST_HEADER) == "true"
