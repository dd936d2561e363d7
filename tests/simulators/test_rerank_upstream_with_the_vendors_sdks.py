"""The vendors' own SDKs find nothing odd about how the fake upstream reranks, and refuses to."""

from collections.abc import Iterator
from typing import Any, TypeAlias

import cohere
import httpx
import pytest
import requests
import voyageai
import voyageai.error
from cohere.core.request_options import RequestOptions
from voyageai.api_resources import api_requestor

from tests.support.upstream import FakeUpstream
from tests.support.upstream.rerank import count_pairs

Sdk: TypeAlias = Any

QUERY = "what do badgers eat"
DOCUMENTS = ["rain on tuesday", "badgers eat earthworms", "badgers sleep"]
KEY = "sk-right"


@pytest.fixture
def upstream() -> Iterator[FakeUpstream]:
    with FakeUpstream(api_key=KEY) as running:
        yield running


@pytest.fixture(autouse=True)
def _connections_end_with_the_test(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Close what the vendor's SDK keeps open for its thread."""
    with requests.Session() as session:
        monkeypatch.setattr(api_requestor, "_make_session", lambda: session)
        vars(api_requestor._thread_context).clear()
        yield


@pytest.fixture
def http() -> Iterator[httpx.Client]:
    with httpx.Client(timeout=60) as client:
        yield client


def voyage(upstream: FakeUpstream, key: str = KEY) -> Sdk:
    return voyageai.Client(api_key=key, base_url=upstream.base_url, timeout=60)


def cohere_v2(upstream: FakeUpstream, http: httpx.Client, key: str = KEY) -> Sdk:
    return cohere.ClientV2(api_key=key, base_url=upstream.origin, httpx_client=http)


def test_voyage_gets_results_best_first_and_the_tokens_of_the_ledger(upstream: FakeUpstream) -> None:
    answer = voyage(upstream).rerank(QUERY, DOCUMENTS, model="rerank-2.5", top_k=2, truncation=False)
    assert [(found.index, found.document) for found in answer.results] == [(1, DOCUMENTS[1]), (2, DOCUMENTS[2])]
    assert answer.results[0].relevance_score > answer.results[1].relevance_score
    [entry] = upstream.ledger
    assert answer.total_tokens == entry.prompt_tokens == count_pairs({"query": QUERY, "documents": DOCUMENTS})
    assert entry.body["truncation"] is False


def test_cohere_gets_results_best_first(upstream: FakeUpstream, http: httpx.Client) -> None:
    answer = cohere_v2(upstream, http).rerank(model="rerank-v3.5", query=QUERY, documents=DOCUMENTS, top_n=2)
    assert [found.index for found in answer.results] == [1, 2]
    assert answer.meta.billed_units.search_units == 1
    [entry] = upstream.ledger
    assert (entry.path, entry.body["top_n"]) == ("/v2/rerank", 2)


@pytest.mark.parametrize(
    ("status", "error"),
    [
        (400, voyageai.error.InvalidRequestError),
        (429, voyageai.error.RateLimitError),
        (500, voyageai.error.ServerError),
        (503, voyageai.error.ServiceUnavailableError),
    ],
)
def test_voyage_raises_its_own_errors(upstream: FakeUpstream, status: int, error: type[Exception]) -> None:
    upstream.script(status=status, error_message="told by the vendor")
    with pytest.raises(error, match="told by the vendor" if status < 500 else "The server"):
        voyage(upstream).rerank(QUERY, DOCUMENTS, model="rerank-2.5")


def test_voyage_refuses_another_key(upstream: FakeUpstream) -> None:
    with pytest.raises(voyageai.error.AuthenticationError):
        voyage(upstream, "sk-wrong").rerank(QUERY, DOCUMENTS, model="rerank-2.5")


@pytest.mark.parametrize(
    ("status", "error"),
    [
        (400, cohere.BadRequestError),
        (422, cohere.UnprocessableEntityError),
        (429, cohere.TooManyRequestsError),
        (498, cohere.InvalidTokenError),
        (500, cohere.InternalServerError),
    ],
)
def test_cohere_raises_its_own_errors(
    upstream: FakeUpstream, http: httpx.Client, status: int, error: type[Exception]
) -> None:
    upstream.script(status=status, error_message="told by the vendor")
    options = RequestOptions(max_retries=0)
    with pytest.raises(error, match="told by the vendor"):
        cohere_v2(upstream, http).rerank(model="rerank-v3.5", query=QUERY, documents=DOCUMENTS, request_options=options)


def test_cohere_refuses_another_key(upstream: FakeUpstream, http: httpx.Client) -> None:
    with pytest.raises(cohere.UnauthorizedError):
        cohere_v2(upstream, http, "sk-wrong").rerank(model="rerank-v3.5", query=QUERY, documents=DOCUMENTS)
