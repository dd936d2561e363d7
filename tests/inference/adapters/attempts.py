"""Builds attempts and plans as a metered call does."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from billing.rules.prices import PriceList
from gateway.core.contract.aliases import Route
from inference.interface.answer import Chunk
from inference.interface.model import DeploymentTarget, ServedModel, UpstreamTarget
from inference.interface.plan import CallPlan
from inference.interface.upstream import Ambiguous, Attempt, CallContext, Endpoint, Outcome, Stream, StreamBroken
from inference.routes.chat.bound import BoundedChat, StreamedChat
from inference.routes.chat.request import ChatRequest
from inference.routes.chat.route import CHAT
from inference.routes.embeddings.bound import BoundedEmbeddings
from inference.routes.embeddings.request import read_request as read_embedding
from inference.routes.embeddings.route import EMBEDDINGS
from inference.rules.json_body import JsonBody
from inference.rules.token_charge import TokenCharge
from inference.rules.token_usage import read_chat

USAGE_ID = "use_01k6wq5zj3y8r2v7n4m9tbcdef"
API_KEY = "sk-upstream-secret-0001"
PUBLIC_ID = "chatcmpl_01k6wq5zj3y8r2v7n4m9tbcdef"
HELLO = {"model": "fast", "messages": [{"role": "user", "content": "hello"}], "max_completion_tokens": 30}


def target(base_url: str, **changes: Any) -> UpstreamTarget:
    """Return an upstream as a process caches it, with timeouts that no slow machine exceeds."""
    settings: dict[str, Any] = {"adapter": "openai", "api_key": API_KEY, "timeout_seconds": 30} | changes
    return UpstreamTarget(name="primary", base_url=base_url, **settings)


class Endpoints:
    """The endpoints of one adapter. An attempt uses the one of its request's route."""

    def __init__(self, name: str) -> None:
        self.name = name

    def of(self, attempt: Attempt[Any]) -> Endpoint[Any]:
        """Find the endpoint for an attempt."""
        return ROUTES[isinstance(attempt.request, BoundedChat)].endpoints[self.name]

    async def send(self, attempt: Attempt[Any]) -> Outcome:
        """Send and read the whole answer."""
        return await self.of(attempt).send(attempt)

    async def open_stream(self, attempt: Attempt[Any]) -> Stream | Outcome:
        """Send and open a stream."""
        return await self.of(attempt).open_stream(attempt)


ROUTES: dict[bool, Any] = {True: CHAT, False: EMBEDDINGS}


def chat_request(body: dict[str, Any] | None = None, *, show_usage: bool = False) -> StreamedChat:
    """Return a chat request with any body."""
    members = {**HELLO, **(body or {})}
    parsed = ChatRequest(members, False, 0, 0, False, members.get("n", 1), None, "max_tokens", True, show_usage)
    return StreamedChat(0, members, False, parsed, TokenCharge(PriceList(), read_chat), 30)


def chat(base_url: str, model: str = "small-1", body: dict[str, Any] | None = None, **changes: Any) -> Attempt[Any]:
    """Return an attempt at a chat completion; `changes` apply to the upstream."""
    show_usage = changes.pop("show_usage", False)
    return Attempt(
        target=target(base_url, **changes),
        upstream_model=model,
        request=chat_request(body, show_usage=show_usage),
        call=CallContext(USAGE_ID, "fast", PUBLIC_ID),
    )


def embedding(base_url: str, body: dict[str, Any], model: str = "embed-1") -> Attempt[Any]:
    """Return an attempt at embeddings."""
    members = {"model": "embedding", **body}
    parsed = read_embedding(JsonBody(members, 0, b"", b"", is_large=False), ServedModel("embedding"))
    return Attempt(
        target=target(base_url),
        upstream_model=model,
        request=BoundedEmbeddings(0, members, False, parsed, PriceList()),
        call=CallContext(USAGE_ID, "embedding", "embd_01k6wq5zj3y8r2v7n4m9tbcdef"),
    )


def plan(*deployments: DeploymentTarget, body: dict[str, Any] | None = None) -> CallPlan[Any]:
    """Return a plan of a chat completion over deployments."""
    return CallPlan(
        route=Route.CHAT_COMPLETIONS,
        endpoints=CHAT.endpoints,
        deployments=deployments,
        request=chat_request(body),
        call=CallContext(USAGE_ID, "fast", PUBLIC_ID),
    )


def reporting(attempt: Attempt[Any], on_send: Callable[[], None]) -> Attempt[Any]:
    """Return the attempt with another function to call before the first byte."""
    return replace(attempt, call=replace(attempt.call, on_send=on_send))


def assert_ambiguous(outcome: Outcome, code: str) -> None:
    """Assert an unknown outcome, reported to the client as `code`."""
    assert isinstance(outcome, Ambiguous), outcome
    assert outcome.error.code == code


async def opened(outcome: Stream | Outcome) -> Stream:
    """Assert that the outcome is a stream, and return it."""
    assert not isinstance(outcome, Outcome), outcome
    return outcome


async def read_until_broken(stream: Stream) -> tuple[list[Chunk], StreamBroken]:
    """Read a stream that must break, and close it; return the chunks before the break, and the error."""
    chunks: list[Chunk] = []
    try:
        async for chunk in stream:
            chunks.append(chunk)  # noqa: PERF401 - keeps the chunks before the break
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
