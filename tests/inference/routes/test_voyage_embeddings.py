"""Embeddings at the vendor Voyage: texts, images, and chunks in their documents."""

import base64
import struct
from collections.abc import Iterator
from typing import Any

import pytest
from aiohttp import web

from tests.factories.images import PNG
from tests.inference.routes.vectors import Bench, alias_options, bench, manifest_id
from tests.support.stage import EMBEDDINGS, Stage
from tests.support.vector_upstreams import VoyageUpstream
from tests.support.vector_upstreams.server import vector
from tests.support.vector_upstreams.voyage import DIMENSIONS

CONTEXTUAL = "/v1/embeddings/contextual"
IMAGE = "data:image/png;base64," + base64.b64encode(PNG).decode()


@pytest.fixture(scope="module")
def running() -> Iterator[VoyageUpstream]:
    with VoyageUpstream() as upstream:
        yield upstream


@pytest.fixture
def plain(stage: Stage, running: VoyageUpstream) -> Iterator[Bench]:
    with bench(stage, running, EMBEDDINGS) as made:
        made.serve("voyage-3.5", options=alias_options(EMBEDDINGS), context_tokens=400)
        yield made


@pytest.fixture
def contextual(stage: Stage, running: VoyageUpstream) -> Iterator[Bench]:
    with bench(stage, running, CONTEXTUAL) as made:
        made.serve("voyage-context-3", options=alias_options(CONTEXTUAL))
        yield made


def test_a_plain_request_at_a_dense_upstream_is_a_representation(plain: Bench) -> None:
    body = plain.post(input=["one badger", "two"]).json()
    assert [item["embedding"] for item in body["data"]] == [
        pytest.approx(vector(text, DIMENSIONS), abs=1e-7) for text in ("one badger", "two")
    ]
    manifest = {
        "alias": plain.model,
        "provider": "voyage",
        "model": "voyage-3.5",
        "revision": "voyage-3.5",
        "dimensions": DIMENSIONS,
        "quantization": "float",
        "normalized": True,
        "input_type": None,
    }
    assert (body["manifest"], body["manifest_id"]) == (manifest, manifest_id(manifest))
    assert body["usage"] == {"prompt_tokens": 3, "total_tokens": 3}
    [call] = plain.upstream.requests
    assert (call.path, call.authorization) == ("/embeddings", f"Bearer {plain.stage.api_key}")
    assert call.body == {
        "model": "voyage-3.5",
        "input": ["one badger", "two"],
        "encoding_format": "base64",
        "input_type": None,
        "truncation": False,
    }
    plain.assert_charged(6)


def test_wishes_go_upstream_in_the_vendors_words(plain: Bench) -> None:
    answer = plain.post(input="x", input_type="query", truncation=True, dimensions=4, encoding_format="base64")
    [item] = answer.json()["data"]
    assert struct.unpack("<4f", base64.b64decode(item["embedding"])) == tuple(vector("x", 4))
    [call] = plain.upstream.requests
    assert {name: call.body[name] for name in ("input_type", "truncation", "output_dimension")} == {
        "input_type": "query",
        "truncation": True,
        "output_dimension": 4,
    }


def test_a_pinned_manifest_holds_from_one_call_to_the_next(plain: Bench) -> None:
    pinned = plain.post(input="one").json()["manifest_id"]
    assert plain.post(input="two", manifest_id=pinned).json()["manifest_id"] == pinned
    assert "output_dimension" not in plain.upstream.requests[1].body
    plain.serve("voyage-4", options=alias_options(EMBEDDINGS))
    answer = plain.post(input="three", manifest_id=pinned)
    assert (answer.status_code, answer.json()["error"]["code"]) == (409, "manifest_mismatch")
    assert len(plain.upstream.requests) == 2


def test_images_and_their_company_go_the_multimodal_way(plain: Bench) -> None:
    image = {"type": "image_url", "image_url": {"url": IMAGE}}
    body = plain.post(input=["a badger", image], input_type="document").json()
    assert body["data"][1]["embedding"] == pytest.approx(vector(IMAGE, DIMENSIONS))
    [call] = plain.upstream.requests
    assert call.path == "/multimodalembeddings"
    assert call.body == {
        "model": "voyage-3.5",
        "inputs": [
            {"content": [{"type": "text", "text": "a badger"}]},
            {"content": [{"type": "image_base64", "image_base64": IMAGE}]},
        ],
        "input_type": "document",
        "truncation": False,
    }
    plain.assert_charged(6)


def test_a_multimodal_model_gets_texts_on_its_own_route(plain: Bench) -> None:
    plain.serve("voyage-multimodal-3", options=alias_options(EMBEDDINGS))
    assert plain.post(input="one").status_code == 200
    assert plain.upstream.requests[0].path == "/multimodalembeddings"


def test_items_are_ordered_by_their_index(plain: Bench) -> None:
    plain.upstream.twist = lambda call, honest: {**honest, "data": honest["data"][::-1]}
    found = plain.post(input=["one", "two", "three"]).json()["data"]
    assert [item["embedding"] for item in found] == [
        pytest.approx(vector(text, DIMENSIONS), abs=1e-7) for text in ("one", "two", "three")
    ]


@pytest.mark.parametrize(
    "data",
    [
        [],
        None,
        ["x"],
        [{"index": 0}],
        [{"index": 0, "embedding": [1.0]}, {"index": 0, "embedding": [1.0]}],
        [{"index": 1, "embedding": [1.0]}],
        [{"index": True, "embedding": [1.0]}],
        [{"embedding": [1.0]}],
        [{"index": 0, "embedding": "***"}],
        [{"index": 0, "embedding": "AAA="}],
        [{"index": 0, "embedding": ""}],
        [{"index": 0, "embedding": []}],
        [{"index": 0, "embedding": ["x"]}],
        [{"index": 0, "embedding": base64.b64encode(struct.pack("<f", float("inf"))).decode()}],
    ],
)
def test_a_malformed_answer_is_left_to_review(plain: Bench, data: Any) -> None:
    plain.upstream.twist = lambda call, honest: {**honest, "data": data}
    answer = plain.post(input="one")
    assert (answer.status_code, answer.json()["error"]["code"]) == (502, "upstream_invalid")
    plain.assert_in_review()


def test_vectors_of_different_lengths_are_left_to_review(plain: Bench) -> None:
    data = [{"index": 0, "embedding": [1.0]}, {"index": 1, "embedding": [1.0, 0.0]}]
    plain.upstream.twist = lambda call, honest: {**honest, "data": data}
    assert plain.post(input=["one", "two"]).json()["error"]["code"] == "upstream_invalid"
    plain.assert_in_review()


@pytest.mark.parametrize("usage", [None, {}, {"total_tokens": None}])
def test_missing_usage_leaves_the_charge_to_review(plain: Bench, usage: Any) -> None:
    plain.upstream.twist = lambda call, honest: {**honest, "usage": usage}
    answer = plain.post(input="one")
    assert (answer.status_code, answer.json()["usage"]) == (200, None)
    plain.assert_in_review()


@pytest.mark.parametrize(
    ("status", "answered", "code", "state"),
    [
        (400, 400, "invalid_request", "released"),
        (401, 503, "model_unavailable", "released"),
        (500, 502, "upstream_error", "released"),
    ],
)
def test_the_vendors_refusals_cost_nothing(plain: Bench, status: int, answered: int, code: str, state: str) -> None:
    body = b'{"detail": "Your input is too long: secret"}'
    plain.upstream.twist = lambda call, honest: web.Response(status=status, body=body, content_type="application/json")
    answer = plain.post(input="one")
    assert (answer.status_code, answer.json()["error"]["code"]) == (answered, code)
    assert "secret" not in answer.text
    assert plain.caller.only_call.state == state


def test_chunks_go_upstream_in_their_documents(contextual: Bench) -> None:
    documents = [["one badger", "digs"], ["two"]]
    body = contextual.post(input_type="document", documents=documents, quantization="int8", dimensions=2048).json()
    assert body["data"][0]["data"][1] == {
        "object": "embedding",
        "index": 1,
        "embedding": [round(value * 127) for value in vector("digsone badgerdigs", 2048)],
    }
    assert (body["manifest"]["revision"], body["manifest"]["normalized"]) == ("voyage-context-3", False)
    [call] = contextual.upstream.requests
    assert call.path == "/contextualizedembeddings"
    assert call.body == {
        "model": "voyage-context-3",
        "inputs": documents,
        "input_type": "document",
        "output_dimension": 2048,
        "output_dtype": "int8",
    }
    contextual.assert_charged(8)


def test_queries_are_inputs_of_one(contextual: Bench) -> None:
    body = contextual.post(input_type="query", queries=["one", "two"]).json()
    assert contextual.upstream.requests[0].body["inputs"] == [["one"], ["two"]]
    assert body["data"][1]["data"][0]["embedding"] == pytest.approx(vector("twotwo", 1024), abs=1e-7)


@pytest.mark.parametrize(
    "data", [[], [{"index": 0}], [{"index": 0, "data": []}], [{"index": 0, "data": [{"index": 0}]}]]
)
def test_malformed_documents_are_left_to_review(contextual: Bench, data: Any) -> None:
    contextual.upstream.twist = lambda call, honest: {**honest, "data": data}
    answer = contextual.post(input_type="query", queries=["one"])
    assert (answer.status_code, answer.json()["error"]["code"]) == (502, "upstream_invalid")
    contextual.assert_in_review()
