"""Late interaction: MaxSim over the upstream's token matrices, which never leave the gateway."""

import base64
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from aiohttp import web

from tests.inference.routes.vectors import Bench, alias_options, bench, manifest_id
from tests.support.stage import Stage
from tests.support.vector_upstreams import RepresentationUpstream
from tests.support.vector_upstreams.server import refusal

PATH = "/v1/late-interaction/score"
DOCUMENTS = [
    {"id": "rain", "text": "It rains today"},
    {"id": "badger", "text": "🚀nder 🦡🦡 the badger digs"},
    {"id": "empty", "text": ""},
    {"id": "one", "text": "Digs"},
]
MEMBERS: dict[str, Any] = {"query": "badger digs", "documents": DOCUMENTS}


@pytest.fixture(scope="module")
def running() -> Iterator[RepresentationUpstream]:
    with RepresentationUpstream() as upstream:
        upstream.dimensions = 128
        yield upstream


@pytest.fixture
def world(stage: Stage, running: RepresentationUpstream) -> Iterator[Bench]:
    with bench(stage, running, PATH) as made:
        yield made


def maxsim(upstream: Any, query: str, text: str) -> float:
    products = upstream.matrix(query) @ upstream.matrix(text).T
    return float(products.max(axis=1).sum()) if products.size else 0.0


def test_documents_are_scored_and_shown_where_they_matched(world: Bench) -> None:
    answer = world.post(**MEMBERS)
    assert answer.status_code == 200
    body = answer.json()
    found = body.pop("data")
    manifest = {
        "alias": world.model,
        "provider": "representation",
        "model": "vectors-1",
        "revision": "r1",
        "dimensions": 128,
        "quantization": "float",
        "normalized": False,
        "input_type": None,
    }
    assert body == {
        "object": "list",
        "model": world.model,
        "manifest": manifest,
        "manifest_id": manifest_id(manifest),
        "usage": {"prompt_tokens": 11, "total_tokens": 11},
    }
    expected = {one["id"]: maxsim(world.upstream, "badger digs", one["text"]) for one in DOCUMENTS}
    assert {one["id"]: one["score"] for one in found} == pytest.approx(expected, abs=1e-5)
    assert [one["id"] for one in found] == sorted(expected, key=lambda name: -expected[name])
    assert [one["spans"] for one in found if one["id"] == "empty"] == [[]]
    [best] = [one for one in found if one["id"] == "badger"]
    text = DOCUMENTS[1]["text"]
    for span, word, index in zip(best["spans"], ["badger", "digs"], [0, 1], strict=True):
        units = text.encode("utf-16-le")[2 * span["start"] : 2 * span["end"]]
        assert units.decode("utf-16-le") == word
        assert (span["weight"], span["query_tokens"]) == (pytest.approx(1, abs=1e-6), [index])
    assert best["spans"][0]["start"] == len("🚀nder 🦡🦡 the ".encode("utf-16-le")) // 2 == 16
    world.assert_charged(22)


def test_the_query_and_the_texts_go_upstream_at_one_revision(world: Bench) -> None:
    world.post(**MEMBERS)
    query, documents = world.upstream.requests
    assert (query.path, query.key) == ("/multivector", world.caller.only_call.id)
    assert query.body == {
        "model": "vectors-1",
        "input": ["badger digs"],
        "input_type": "query",
        "encoding_format": "base64",
    }
    assert documents.body == {
        "model": "vectors-1",
        "input": [one["text"] for one in DOCUMENTS if one["text"]],
        "input_type": "document",
        "encoding_format": "base64",
        "revision": "r1",
    }
    size = len("badger digs") + sum(len(one["text"].encode()) for one in DOCUMENTS)
    assert world.caller.only_call.hold_microusd == 2 * (size + 5 * 32)


def test_no_matrix_leaves(world: Bench) -> None:
    answer = world.post(**MEMBERS)
    assert sorted(answer.json()["data"][0]) == ["id", "score", "spans"]
    row = base64.b64encode(world.upstream.matrix("badger").tobytes())[:40].decode()  # type: ignore[union-attr]
    assert row not in answer.text


def test_top_spans_bounds_the_spans(world: Bench) -> None:
    text = "one two three four five"
    found = world.post(query=text, documents=[{"id": "a", "text": text}], top_spans=4).json()["data"]
    assert len(found[0]["spans"]) == 4
    usual = world.post(query=text, documents=[{"id": "a", "text": text}]).json()["data"]
    assert len(usual[0]["spans"]) == 3


def test_equals_keep_the_order_of_the_request(world: Bench) -> None:
    documents = [{"id": str(index), "text": "the same"} for index in range(5)]
    found = world.post(query="same", documents=documents).json()["data"]
    assert [one["id"] for one in found] == ["0", "1", "2", "3", "4"]


def test_where_every_text_is_empty_only_the_query_is_sent(world: Bench) -> None:
    found = world.post(query="x", documents=[{"id": "a", "text": ""}, {"id": "b", "text": ""}]).json()["data"]
    assert found == [{"id": "a", "score": 0.0, "spans": []}, {"id": "b", "score": 0.0, "spans": []}]
    assert len(world.upstream.requests) == 1


def test_a_text_without_tokens_scores_nothing(world: Bench) -> None:
    found = world.post(query="x", documents=[{"id": "a", "text": " \n "}, {"id": "b", "text": "x"}]).json()["data"]
    assert [(one["id"], len(one["spans"])) for one in found] == [("b", 1), ("a", 0)]


def test_many_documents_go_in_several_calls(world: Bench) -> None:
    documents = [{"id": str(index), "text": f"badger {index} " + "x " * 500} for index in range(90)]
    answer = world.post(query="badger 7", documents=documents, max_cost=1_000_000)
    assert answer.status_code == 200
    sizes = [sum(len(text) for text in call.body["input"]) for call in world.upstream.requests]
    assert len(sizes) == 4
    assert max(sizes) <= 32 * 1024 * 1024 // (128 * 6)
    assert {call.body.get("revision") for call in world.upstream.requests[1:]} == {"r1"}
    assert answer.json()["data"][0]["id"] == "7"


def test_another_revision_in_a_further_call_is_left_to_review(world: Bench) -> None:
    world.upstream.twist = lambda call, honest: {**honest, "revision": f"r{len(world.upstream.requests)}"}
    answer = world.post(**MEMBERS)
    assert (answer.status_code, answer.json()["error"]["code"]) == (502, "upstream_invalid")
    world.assert_in_review()


@pytest.mark.parametrize(("status", "answered", "code"), [(400, 400, "invalid_request"), (503, 502, "upstream_error")])
def test_a_refusal_of_the_documents_is_left_to_review(world: Bench, status: int, answered: int, code: str) -> None:
    world.upstream.twist = lambda call, honest: (
        honest if call.body["input_type"] == "query" else refusal(status, code="overloaded")
    )
    answer = world.post(**MEMBERS)
    assert (answer.status_code, answer.json()["error"]["code"]) == (answered, code)
    world.assert_in_review()
    again = world.caller.post({"model": world.model, **MEMBERS}, path=PATH, key=world.caller.only_call.idempotency_key)
    assert (again.status_code, again.json()["error"]["code"]) == (409, "idempotency_in_progress")
    assert len(world.upstream.requests) == 2


def test_a_refusal_of_the_query_costs_nothing(world: Bench) -> None:
    world.upstream.twist = lambda call, honest: refusal(400)
    assert world.post(**MEMBERS).status_code == 400
    assert world.caller.only_call.state == "released"


def item(*, tokens: int = 1, **members: Any) -> Any:
    rows = base64.b64encode(np.ones((tokens, 128), "<f4").tobytes()).decode()
    return {"vectors": rows, "offsets": [[0, 1]] * tokens, **members}


@pytest.mark.parametrize(
    "members",
    [
        {"items": []},
        {"items": [item(), item()]},
        {"items": ["x"]},
        {"items": None},
        {"items": [item(vectors=None)]},
        {"items": [item(vectors="***")]},
        {"items": [item(vectors="é")]},
        {"items": [item(vectors="AAAA")]},
        {"items": [item(vectors=base64.b64encode(np.full((1, 128), np.nan, "<f4").tobytes()).decode())]},
        {"items": [item(vectors=base64.b64encode(np.full((1, 128), np.inf, "<f4").tobytes()).decode())]},
        {"items": [item(offsets=[])]},
        {"items": [item(offsets=[[0, 1], [1, 2]])]},
        {"items": [item(offsets=[[1, 0]])]},
        {"items": [item(offsets=[[-1, 1]])]},
        {"items": [item(offsets=[[0, 5]])]},
        {"items": [item(offsets=[[0, 1.0]])]},
        {"items": [item(offsets=[[0, True]])]},
        {"items": [item(offsets=[[0]])]},
        {"items": [item(offsets=None)]},
        {"items": [item(tokens=len("two") + 32 + 1)]},
        {"dimensions": 64},
        {"dimensions": 0},
        {"usage": {"input_tokens": -1}},
        {"usage": {"input_tokens": "many"}},
        {"usage": "many"},
    ],
)
def test_a_malformed_answer_is_left_to_review(world: Bench, members: Any) -> None:
    world.upstream.twist = lambda call, honest: honest if call.body["input_type"] == "query" else {**honest, **members}
    answer = world.post(query="one", documents=[{"id": "a", "text": "two"}])
    assert (answer.status_code, answer.json()["error"]["code"]) == (502, "upstream_invalid")
    world.assert_in_review()


@pytest.mark.parametrize("which", ["query", "document"])
def test_usage_that_one_call_leaves_out_is_missing(world: Bench, which: str) -> None:
    world.upstream.twist = lambda call, honest: (
        {**honest, "usage": None} if call.body["input_type"] == which else honest
    )
    answer = world.post(**MEMBERS)
    assert (answer.status_code, answer.json()["usage"]) == (200, None)
    world.assert_in_review()


def test_a_client_that_asks_again_gets_the_same_answer(world: Bench) -> None:
    first, again = (world.post(**MEMBERS, key="same") for _ in range(2))
    assert (again.content, again.headers["idempotent-replayed"]) == (first.content, "true")
    assert len(world.upstream.requests) == 2
    world.assert_charged(22)


def test_an_upstream_that_hangs_up_is_left_to_review(world: Bench) -> None:
    def hang_up(call: Any, honest: Any) -> Any:
        headers = {"Content-Length": "400", "Content-Type": "application/json"}
        cut = web.Response(body=b'{"revision"', headers=headers)
        cut.force_close()
        return cut

    world.upstream.twist = hang_up
    assert world.post(**MEMBERS).status_code == 502
    world.assert_in_review()


@pytest.mark.parametrize(
    ("members", "param"),
    [
        ({"query": ""}, "query"),
        ({"query": None}, "query"),
        ({"query": ["x"]}, "query"),
        ({"documents": None}, "documents"),
        ({"documents": []}, "documents"),
        ({"documents": "x"}, "documents"),
        ({"documents": ["x"]}, "documents.0"),
        ({"documents": [{"id": "a", "text": "x"}] * 2}, "documents.1.id"),
        ({"documents": [{"text": "x"}]}, "documents.0.id"),
        ({"documents": [{"id": "", "text": "x"}]}, "documents.0.id"),
        ({"documents": [{"id": 1, "text": "x"}]}, "documents.0.id"),
        ({"documents": [{"id": "x" * 256, "text": "x"}]}, "documents.0.id"),
        ({"documents": [{"id": "a"}]}, "documents.0.text"),
        ({"documents": [{"id": "a", "text": None}]}, "documents.0.text"),
        ({"documents": [{"id": str(index), "text": "x"} for index in range(1001)]}, "documents"),
        ({"novelty": None}, "novelty"),
        ({"top_spans": 0}, "top_spans"),
        ({"top_spans": -1}, "top_spans"),
        ({"top_spans": 101}, "top_spans"),
        ({"top_spans": 1.5}, "top_spans"),
        ({"top_spans": True}, "top_spans"),
        ({"manifest_id": "0" * 64}, "manifest_id"),
        ({"api_key": "sk"}, "api_key"),
    ],
)
def test_what_cannot_be_scored_is_refused_by_name(world: Bench, members: Any, param: str) -> None:
    world.assert_refused(world.post(**{**MEMBERS, **members}), 400, "invalid_request", param)


@pytest.mark.parametrize("price", [None, {"output_token": "1"}, {"input_item": "1"}])
def test_without_a_price_for_its_input_it_is_unavailable(world: Bench, price: Any) -> None:
    world.serve(price=price, options=alias_options(PATH))
    world.assert_refused(world.post(**MEMBERS), 503, "model_unavailable")


@pytest.mark.parametrize(("price", "cost"), [({"input_kilobyte": "7"}, 14), ({"request": "3"}, 3)])
def test_every_component_is_charged(world: Bench, price: Any, cost: int) -> None:
    world.serve(price=price, options=alias_options(PATH))
    documents = [{"id": "a", "text": "b" * 1000}]
    assert world.post(query="one", documents=documents).status_code == 200
    world.assert_charged(cost)
