"""Embeddings at the vendor Cohere: texts, images among them, and what its billed units cost."""

import base64
import struct
from collections.abc import Iterator
from typing import Any

import pytest
from aiohttp import web

from tests.factories.images import PNG
from tests.inference.routes.sdk import sdk
from tests.inference.routes.vectors import Bench, alias_options, bench, manifest_id
from tests.support.stage import EMBEDDINGS, Stage
from tests.support.vector_upstreams import CohereUpstream
from tests.support.vector_upstreams.cohere import DIMENSIONS, IMAGE_TOKENS
from tests.support.vector_upstreams.server import vector

IMAGE = "data:image/png;base64," + base64.b64encode(PNG).decode()
CONTEXT = 400
OPTIONS = alias_options(EMBEDDINGS)


@pytest.fixture(scope="module")
def running() -> Iterator[CohereUpstream]:
    with CohereUpstream() as upstream:
        yield upstream


@pytest.fixture
def world(stage: Stage, running: CohereUpstream) -> Iterator[Bench]:
    with bench(stage, running, EMBEDDINGS) as made:
        made.serve("embed-v4.0", options=OPTIONS, context_tokens=CONTEXT)
        yield made


def image(url: str = IMAGE) -> Any:
    return {"type": "image_url", "image_url": {"url": url}}


def billing(**units: Any) -> Any:
    return lambda call, honest: {**honest, "meta": {"billed_units": units}}


def test_texts_are_embedded_as_documents(world: Bench) -> None:
    body = world.post(input=["one badger", "two"], input_type="document").json()
    assert [item["embedding"] for item in body["data"]] == [
        pytest.approx(vector(text, DIMENSIONS), abs=1e-7) for text in ("one badger", "two")
    ]
    manifest = {
        "alias": world.model,
        "provider": "cohere",
        "model": "embed-v4.0",
        "revision": "embed-v4.0",
        "dimensions": DIMENSIONS,
        "quantization": "float",
        "normalized": False,
        "input_type": "document",
    }
    assert (body["manifest"], body["manifest_id"]) == (manifest, manifest_id(manifest))
    assert body["usage"] == {"prompt_tokens": 3, "total_tokens": 3}
    [call] = world.upstream.requests
    assert (call.path, call.authorization) == ("/v2/embed", f"Bearer {world.stage.api_key}")
    assert call.key == world.caller.only_call.id
    assert call.body == {
        "model": "embed-v4.0",
        "texts": ["one badger", "two"],
        "input_type": "search_document",
        "embedding_types": ["float"],
        "truncate": "NONE",
    }
    world.assert_charged(6)


def test_wishes_go_upstream_in_the_vendors_words(world: Bench) -> None:
    answer = world.post(input="x", input_type="query", truncation=True, dimensions=4, encoding_format="base64")
    [item] = answer.json()["data"]
    assert struct.unpack("<4f", base64.b64decode(item["embedding"])) == tuple(vector("x", 4))
    [call] = world.upstream.requests
    assert {name: call.body[name] for name in ("input_type", "truncate", "output_dimension")} == {
        "input_type": "search_query",
        "truncate": "END",
        "output_dimension": 4,
    }


def test_queries_and_documents_share_a_manifest_id_that_can_be_pinned(world: Bench) -> None:
    pinned = world.post(input="one", input_type="document").json()["manifest_id"]
    assert world.post(input="two", input_type="query", manifest_id=pinned).json()["manifest_id"] == pinned
    world.serve("embed-english-v3.0", options=OPTIONS)
    answer = world.post(input="three", input_type="query", manifest_id=pinned)
    assert (answer.status_code, answer.json()["error"]["code"]) == (409, "manifest_mismatch")
    assert len(world.upstream.requests) == 2


def test_the_operator_says_whether_vectors_have_length_one(world: Bench) -> None:
    world.serve("embed-v4.0", options={**OPTIONS, "normalized": True, "provider": "acme"})
    manifest = world.post(input="one", input_type="query").json()["manifest"]
    assert (manifest["normalized"], manifest["provider"]) == (True, "acme")


@pytest.mark.parametrize("members", [{}, {"input_type": None}, {"truncation": True}, {"input_type": "search_query"}])
def test_the_vendor_needs_an_input_type(world: Bench, members: Any) -> None:
    world.assert_refused(world.post(input="x", **members), 400, "invalid_request", "input_type")


def test_images_go_upstream_among_texts(world: Bench) -> None:
    body = world.post(input=["a badger", image()], input_type="document").json()
    assert body["data"][1]["embedding"] == pytest.approx(vector(IMAGE, DIMENSIONS))
    [call] = world.upstream.requests
    assert call.body["inputs"] == [{"content": [{"type": "text", "text": "a badger"}]}, {"content": [image()]}]
    assert "texts" not in call.body
    world.assert_charged(2 * (2 + IMAGE_TOKENS))


def test_96_inputs_go_in_one_call(world: Bench) -> None:
    texts = [f"text {index}" for index in range(97)]
    body = world.post(input=texts, input_type="document").json()
    assert [len(call.body["texts"]) for call in world.upstream.requests] == [96, 1]
    assert [item["index"] for item in body["data"]] == list(range(97))
    assert body["data"][96]["embedding"] == pytest.approx(vector("text 96", DIMENSIONS), abs=1e-7)
    call_id = world.caller.only_call.id
    assert [call.key for call in world.upstream.requests] == [call_id, f"{call_id}-1"]
    world.assert_charged(2 * 2 * 97)


def test_a_later_call_that_fails_is_left_to_review(world: Bench) -> None:
    refused = web.json_response({"message": "too many"}, status=400)
    world.upstream.twist = lambda call, honest: honest if len(call.body["texts"]) == 96 else refused
    assert world.post(input=["x"] * 97, input_type="document").status_code == 400
    world.assert_in_review()


def test_counts_may_be_written_with_a_fraction_of_zero(world: Bench) -> None:
    world.upstream.twist = billing(input_tokens=1.0)
    assert world.post(input="one", input_type="query").json()["usage"]["prompt_tokens"] == 1
    world.assert_charged(2)


def test_an_image_without_texts_needs_no_count_of_texts(world: Bench) -> None:
    world.upstream.twist = billing(images=1, image_tokens=5)
    assert world.post(input=[image()], input_type="document").status_code == 200
    world.assert_charged(10)


@pytest.mark.parametrize(
    "meta", [None, {}, {"billed_units": None}, {"billed_units": {}}, {"billed_units": {"image_tokens": 4}}]
)
def test_missing_usage_leaves_the_charge_to_review(world: Bench, meta: Any) -> None:
    world.upstream.twist = lambda call, honest: {**honest, "meta": meta}
    answer = world.post(input="one", input_type="query")
    assert (answer.status_code, answer.json()["usage"]) == (200, None)
    world.assert_in_review()


def test_images_without_a_count_of_theirs_are_left_to_review(world: Bench) -> None:
    world.upstream.twist = billing(input_tokens=1, images=1)
    assert world.post(input=["one", image()], input_type="document").status_code == 200
    world.assert_in_review()


def test_a_price_by_the_item_needs_no_count(world: Bench) -> None:
    world.serve("embed-v4.0", options=OPTIONS, price={"input_item": "12"})
    world.upstream.twist = billing(images=1)
    assert world.post(input=["one", image()], input_type="document").status_code == 200
    world.assert_charged(24)


@pytest.mark.parametrize(
    "units", [*({"input_tokens": value} for value in (-1, True, "3", 1.5, 10**12, ["3"])), ["x"], "x", 5]
)
def test_absurd_usage_is_left_to_review(world: Bench, units: Any) -> None:
    world.upstream.twist = lambda call, honest: {**honest, "meta": {"billed_units": units}}
    assert world.post(input="one", input_type="query").status_code in (200, 502)
    world.assert_in_review()


@pytest.mark.parametrize(
    "embeddings",
    [
        None,
        [[1.0]],
        {},
        {"float": None},
        {"float": []},
        {"float": [[]]},
        {"float": [["x"]]},
        {"float": [[1.0], [1.0]]},
        {"float": [[1e39]]},
        {"base64": ["AACAPw=="]},
    ],
)
def test_a_malformed_answer_is_left_to_review(world: Bench, embeddings: Any) -> None:
    world.upstream.twist = lambda call, honest: {**honest, "embeddings": embeddings}
    answer = world.post(input="one", input_type="query")
    assert (answer.status_code, answer.json()["error"]["code"]) == (502, "upstream_invalid")
    world.assert_in_review()


def test_vectors_of_other_dimensions_than_requested_are_left_to_review(world: Bench) -> None:
    world.upstream.twist = lambda call, honest: {**honest, "embeddings": {"float": [[1.0, 0.0]]}}
    assert world.post(input="one", input_type="query", dimensions=4).json()["error"]["code"] == "upstream_invalid"
    world.assert_in_review()


@pytest.mark.parametrize(
    ("status", "answered", "code"),
    [
        (400, 400, "invalid_request"),
        (401, 503, "model_unavailable"),
        (498, 503, "model_unavailable"),
        (500, 502, "upstream_error"),
    ],
)
def test_the_vendors_refusals_cost_nothing(world: Bench, status: int, answered: int, code: str) -> None:
    body = {"id": "e1", "message": "texts are too long: secret"}
    world.upstream.twist = lambda call, honest: web.json_response(body, status=status)
    answer = world.post(input="one", input_type="query")
    assert (answer.status_code, answer.json()["error"]["code"]) == (answered, code)
    assert "secret" not in answer.text
    assert world.caller.only_call.state == "released"


def test_the_vendor_has_no_contextual_embeddings(world: Bench) -> None:
    options = {"routes": ["embeddings.contextual"]}
    world.serve("embed-v4.0", options=options)
    world.path = "/v1/embeddings/contextual"
    answer = world.post(input_type="query", queries=["x"])
    world.assert_refused(answer, 503, "model_unavailable")


def test_the_openai_sdk_reads_the_answer(world: Bench) -> None:
    with sdk(world.caller) as client:
        found = client.embeddings.create(model=world.model, input=["one"], extra_body={"input_type": "query"})
    assert found.data[0].embedding == pytest.approx(vector("one", DIMENSIONS), abs=1e-7)
    assert found.usage.prompt_tokens == 1
