"""A proxy of a signed-in person, and the tools that use it."""

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from typing import Any

import httpx
import pytest

from account_gateway_client import CachedTokens, Gateway, ProductKey
from account_gateway_client.proxy import server
from account_gateway_client.proxy.server import LocalProxy
from tests.clients.proxy.held_stand import HeldStand
from tests.support import plain_http
from tests.support.concurrency import PATIENCE_SECONDS

MAXIMUM = 20_000
CHAT = "/v1/chat/completions"
BODY: dict[str, Any] = {"model": "fast", "messages": [{"role": "user", "content": "Count."}]}

StartProxy = Callable[..., LocalProxy]


@pytest.fixture
def stand(product_key: ProductKey) -> Iterator[HeldStand]:
    with HeldStand(product_key.public_jwks()) as stand:
        yield stand
        stand.release()


@pytest.fixture(autouse=True)
def short_end(monkeypatch: pytest.MonkeyPatch) -> None:
    """Do not wait at a proxy's end for what the stand will never say."""
    monkeypatch.setattr(server, "OUTCOMES_SECONDS", 0.1)


@pytest.fixture
def start(stand: HeldStand, tokens: CachedTokens) -> Iterator[StartProxy]:
    with ExitStack() as running:

        def start(**options: Any) -> LocalProxy:
            options = {"max_cost_microusd": MAXIMUM, **options}
            return running.enter_context(LocalProxy(Gateway(stand.base_url, tokens), **options))

        yield start


@pytest.fixture
def proxy(start: StartProxy) -> LocalProxy:
    return start()


@pytest.fixture
def tool(proxy: LocalProxy) -> Iterator[httpx.Client]:
    with tool_of(proxy) as tool:
        yield tool


def tool_of(proxy: LocalProxy, **headers: str) -> httpx.Client:
    """Return an HTTP client that knows the proxy's secret."""
    known = {"Authorization": f"Bearer {proxy.secret}", **headers}
    return plain_http.client(base_url=proxy.base_url, headers=known, timeout=PATIENCE_SECONDS)
