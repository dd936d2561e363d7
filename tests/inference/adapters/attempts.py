"""Attempts and plans as the metered call builds them."""

import asyncio
from collections.abc import Callable
from typing import Any

from gateway.contract.aliases import Route
from inference.adapters.base import Ambiguous, Attempt, Chunk, Outcome, Stream, StreamBroken, UpstreamTarget
from inference.rules.plan import CallPlan, DeploymentTarget

API_KEY = "sk-upstream-secret-0001"
PUBLIC_ID = "chatcmpl_01k6wq5zj3y8r2v7n4m9tbcdef"
HELLO = {"model": "fast", "messages": [{"role": "user", "content": "hello"}], "max_completion_tokens": 30}


def target(base_url: str, **changes: Any) -> UpstreamTarget:
    """Give an upstream as a process caches it, impatient enough for a test."""
    settings: dict[str, Any] = {"adapter": "openai", "api_key": API_KEY, "timeout_seconds": 0.6} | changes
    return UpstreamTarget(name="primary", base_url=base_url, **settings)


def chat(base_url: str, model: str = "small-1", body: dict[str, Any] | None = None, **changes: Any) -> Attempt:
    """Give an attempt at a chat completion; `changes` are the upstream's."""
    show_usage = changes.pop("show_usage", False)
    return Attempt(
        route=Route.CHAT_COMPLETIONS,
        target=target(base_url, **changes),
        model=model,
        body={**HELLO, **(body or {})},
        call_id="use_01k6wq5zj3y8r2v7n4m9tbcdef",
        public_model="fast",
        public_id=PUBLIC_ID,
        show_usage=show_usage,
    )


def embedding(base_url: str, body: dict[str, Any], model: str = "embed-1") -> Attempt:
    """Give an attempt at embeddings."""
    return Attempt(
        route=Route.EMBEDDINGS,
        target=target(base_url),
        model=model,
        body={"model": "embedding", **body},
        call_id="use_01k6wq5zj3y8r2v7n4m9tbcdef",
        public_model="embedding",
        public_id="embd_01k6wq5zj3y8r2v7n4m9tbcdef",
    )


def plan(*deployments: DeploymentTarget, body: dict[str, Any] | None = None) -> CallPlan:
    """Give a plan of a chat completion over deployments."""
    return CallPlan(
        route=Route.CHAT_COMPLETIONS,
        alias="fast",
        deployments=deployments,
        body={**HELLO, **(body or {})},
        call_id="use_01k6wq5zj3y8r2v7n4m9tbcdef",
        public_id=PUBLIC_ID,
    )


def assert_ambiguous(outcome: Outcome, code: str) -> None:
    """Insist on an outcome that nobody knows, told to the client as `code`."""
    assert isinstance(outcome, Ambiguous), outcome
    assert outcome.error.code == code


async def opened(outcome: Stream | Outcome) -> Stream:
    """Insist on a stream."""
    assert not isinstance(outcome, Outcome), outcome
    return outcome


async def read_until_broken(stream: Stream) -> tuple[list[Chunk], StreamBroken]:
    """Read a stream that must break, and close it; give what came before and how it broke."""
    chunks: list[Chunk] = []
    try:
        async for chunk in stream:
            chunks.append(chunk)  # noqa: PERF401 - what came before the break is kept
    except StreamBroken as broken:
        return chunks, broken
    finally:
        await stream.close()
    raise AssertionError("the stream ended whole")


async def read_all(stream: Stream) -> list[Chunk]:
    """Read a stream to its end and close it."""
    try:
        return [chunk async for chunk in stream]
    finally:
        await stream.close()


async def eventually(condition: Callable[[], bool]) -> None:
    """Wait for what another thread is about to do."""
    async with asyncio.timeout(2):
        while not condition():  # noqa: ASYNC110 - what is waited for tells nobody
            await asyncio.sleep(0.01)
