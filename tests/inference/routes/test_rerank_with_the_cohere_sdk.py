"""Cohere's own client, in its first version, on the gateway's rerank route: nothing of it is changed but address and auth."""

import uuid
from collections.abc import Generator, Iterator
from typing import Any

import cohere
import httpx
import pytest

from tests.support.stage import Caller, Stage

PRICE = {"input_kilobyte": "20"}
QUERY = "what do badgers eat"
DOCUMENTS = ["rain on tuesday", "badgers eat earthworms", "badgers sleep"]


class Proving(httpx.Auth):
    """Adds what the gateway asks of a request."""

    def __init__(self, caller: Caller) -> None:
        self._caller = caller

    def auth_flow(self, request: httpx.Request) -> Generator[httpx.Request, httpx.Response]:
        """Sign one request."""
        request.headers.update(self._caller.headers(request.url.path, method=request.method))
        request.headers["Idempotency-Key"] = uuid.uuid4().hex
        request.headers["x-service-max-cost-microusd"] = "1000"
        yield request


@pytest.fixture
def caller(stage: Stage) -> Caller:
    return stage.caller()


@pytest.fixture
def client(caller: Caller) -> Iterator[Any]:
    with httpx.Client(auth=Proving(caller), timeout=60) as http:
        yield cohere.Client(api_key="unused", base_url=caller.origin, httpx_client=http)


@pytest.mark.parametrize("adapter", ["voyage", "cohere", "demo"])
def test_it_reranks(stage: Stage, caller: Caller, client: Any, adapter: str) -> None:
    base_url = stage.upstream.origin if adapter == "cohere" else stage.upstream.base_url
    row = stage.upstream_row(adapter=adapter, base_url=base_url)
    alias = stage.model("rerank-1", upstream=row, price=PRICE, options={"routes": ["rerank"]})
    answer = client.rerank(model=alias, query=QUERY, documents=DOCUMENTS, top_n=2, return_documents=True)
    assert answer.id.startswith("rrk_")
    assert next((found.index, found.document.text) for found in answer.results) == (1, "badgers eat earthworms")
    assert len(answer.results) == 2
    assert answer.results[0].relevance_score > answer.results[1].relevance_score
    assert caller.wallet == {"balance": 999_980, "held": 0, "debt": 0}


def test_it_raises_its_own_errors(stage: Stage, client: Any) -> None:
    alias = stage.model(
        "rerank-1", upstream=stage.upstream_row(adapter="voyage"), price=PRICE, options={"routes": ["rerank"]}
    )
    with pytest.raises(cohere.BadRequestError) as refused:
        client.rerank(model=alias, query="", documents=DOCUMENTS)
    assert refused.value.body["error"]["param"] == "query"
    with pytest.raises(cohere.core.api_error.ApiError) as large:
        client.rerank(model=alias, query=QUERY, documents=["d" * 40_000])
    assert (large.value.status_code, large.value.body["error"]["code"]) == (413, "input_too_large")
