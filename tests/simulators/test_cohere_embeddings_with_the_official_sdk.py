"""The fake Cohere answers as the vendor's SDK expects it."""

from collections.abc import Iterator
from typing import Any

import cohere
import httpx
import pytest
from aiohttp import web
from cohere.core.request_options import RequestOptions

from tests.support.vector_upstreams import CohereUpstream
from tests.support.vector_upstreams.cohere import DIMENSIONS, IMAGE_TOKENS
from tests.support.vector_upstreams.server import vector

IMAGE = "data:image/png;base64,aGVsbG8="


@pytest.fixture(scope="module")
def upstream() -> Iterator[CohereUpstream]:
    with CohereUpstream() as running:
        yield running


@pytest.fixture
def sdk(upstream: CohereUpstream) -> Iterator[Any]:
    upstream.requests.clear()
    upstream.twist = None
    with httpx.Client(timeout=60) as http:
        yield cohere.ClientV2(api_key="test", base_url=upstream.base_url, httpx_client=http)


def test_texts(sdk: Any, upstream: CohereUpstream) -> None:
    found = sdk.embed(
        model="embed-v4.0",
        input_type="search_document",
        texts=["one badger", "two"],
        embedding_types=["float"],
        truncate="NONE",
    )
    assert found.embeddings.float_[1] == pytest.approx(vector("two", DIMENSIONS))
    assert (found.meta.billed_units.input_tokens, found.meta.billed_units.image_tokens) == (3, None)
    [call] = upstream.requests
    assert (call.path, call.authorization) == ("/v2/embed", "Bearer test")
    assert call.body == {
        "model": "embed-v4.0",
        "input_type": "search_document",
        "texts": ["one badger", "two"],
        "embedding_types": ["float"],
        "truncate": "NONE",
    }


def test_images_among_texts(sdk: Any, upstream: CohereUpstream) -> None:
    text, image = {"type": "text", "text": "a badger"}, {"type": "image_url", "image_url": {"url": IMAGE}}
    inputs = [{"content": [text]}, {"content": [image]}]
    found = sdk.embed(model="embed-v4.0", input_type="search_query", inputs=inputs, output_dimension=4)
    assert found.embeddings.float_ == [
        pytest.approx(vector("a badger", 4)),
        pytest.approx(vector(IMAGE, 4)),
    ]
    billed = found.meta.billed_units
    assert (billed.input_tokens, billed.images, billed.image_tokens) == (2, 1, IMAGE_TOKENS)
    assert upstream.requests[0].body["inputs"] == inputs


def test_refusals(sdk: Any, upstream: CohereUpstream) -> None:
    once = RequestOptions(max_retries=0)
    with pytest.raises(cohere.BadRequestError):
        sdk.embed(model="embed-v4.0", input_type="query", texts=["one"], request_options=once)
    upstream.twist = lambda call, honest: web.json_response({"id": "e2", "message": "invalid token"}, status=498)
    with pytest.raises(cohere.InvalidTokenError):
        sdk.embed(model="embed-v4.0", input_type="search_query", texts=["one"], request_options=once)
