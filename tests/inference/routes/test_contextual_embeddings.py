"""Contextual embeddings: documents in their order, one revision over all calls, 1024 or 2048 dimensions."""

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from tests.inference.routes.vectors import Bench, alias_options, bench, manifest_id
from tests.support.stage import Stage
from tests.support.vector_upstreams import RepresentationUpstream
from tests.support.vector_upstreams.server import refusal, vector

PATH = "/v1/embeddings/contextual"
DOCUMENTS = [["one badger", "digs"], ["two"]]
MEMBERS: dict[str, Any] = {"input_type": "document", "documents": DOCUMENTS}


@pytest.fixture
def world(stage: Stage, running: RepresentationUpstream) -> Iterator[Bench]:
    with bench(stage, running, PATH) as made:
        yield made


def item(index: int, embedding: Any) -> Any:
    return {"object": "embedding", "index": index, "embedding": embedding}


def chunk(documents: list[list[str]], document: int, index: int, dimensions: int = 1024) -> list[float]:
    return vector(documents[document][index] + "".join(documents[document]), dimensions)


def embeddings(body: Any) -> list[list[Any]]:
    return [[found["embedding"] for found in group["data"]] for group in body["data"]]


def test_documents_keep_their_chunks_in_order(world: Bench) -> None:
    answer = world.post(**MEMBERS)
    assert answer.status_code == 200
    body = answer.json()
    found = body.pop("data")
    manifest = {
        "alias": world.model,
        "provider": "representation",
        "model": "vectors-1",
        "revision": "r1",
        "dimensions": 1024,
        "quantization": "float",
        "normalized": True,
        "input_type": "document",
    }
    assert body == {
        "object": "list",
        "model": world.model,
        "manifest": manifest,
        "manifest_id": manifest_id(manifest),
        "usage": {"prompt_tokens": 4, "total_tokens": 4},
    }
    assert [(group["object"], group["index"], len(group["data"])) for group in found] == [
        ("list", 0, 2),
        ("list", 1, 1),
    ]
    for document, group in enumerate(found):
        for index, made in enumerate(group["data"]):
            assert made == item(index, pytest.approx(chunk(DOCUMENTS, document, index), abs=1e-7))
    world.assert_charged(8)
    [call] = world.upstream.requests
    assert (call.path, call.key) == ("/embed/contextual", world.caller.only_call.id)
    assert call.body == {
        "model": "vectors-1",
        **MEMBERS,
        "dimensions": 1024,
        "quantization": "float",
    }
    assert world.caller.only_call.hold_microusd == 2 * (len("one badgerdigstwo") + 3 * 32)


def test_queries_are_groups_of_one(world: Bench) -> None:
    answer = world.post(input_type="query", queries=["one", "two"], dimensions=2048)
    found = embeddings(answer.json())
    assert [[len(made) for made in group] for group in found] == [[2048], [2048]]
    assert found[1][0] == pytest.approx(vector("two", 2048), abs=1e-7)
    assert world.upstream.requests[0].body == {
        "model": "vectors-1",
        "input_type": "query",
        "queries": ["one", "two"],
        "dimensions": 2048,
        "quantization": "float",
    }


def test_int8_is_whole_numbers_as_the_upstream_has_them(world: Bench) -> None:
    answer = world.post(**MEMBERS, quantization="int8")
    [[first, _], _] = embeddings(answer.json())
    assert first == [round(value * 127) for value in chunk(DOCUMENTS, 0, 0)]
    manifest = answer.json()["manifest"]
    assert (manifest["quantization"], manifest["normalized"]) == ("int8", False)


def test_floats_are_brought_to_length_one(world: Bench) -> None:
    def longer(call: Any, honest: Any) -> Any:
        scaled = [[[value * 3 for value in made] for made in group] for group in honest["embeddings"]]
        return {**honest, "embeddings": scaled, "normalized": False}

    world.upstream.twist = longer
    answer = world.post(**MEMBERS)
    for group in embeddings(answer.json()):
        for made in group:
            assert float(np.linalg.norm(made)) == pytest.approx(1, abs=1e-6)
    assert answer.json()["manifest"]["normalized"] is True


def test_many_documents_go_in_several_calls_of_one_revision(world: Bench) -> None:
    documents = [[f"{index}", "x" * 1000] for index in range(300)]
    answer = world.post(input_type="document", documents=documents, max_cost=1_000_000)
    assert answer.status_code == 200
    calls = world.upstream.requests
    assert len(calls) == 3
    assert [call.body.get("revision") for call in calls] == [None, "r1", "r1"]
    assert [document for call in calls for document in call.body["documents"]] == documents
    assert [call.key for call in calls] == [f"{calls[0].key}{end}" for end in ("", "-1", "-2")]
    body = answer.json()
    assert [group["index"] for group in body["data"]] == list(range(300))
    assert embeddings(body)[299][1] == pytest.approx(chunk(documents, 299, 1), abs=1e-7)
    world.assert_charged(2 * 600)


def test_another_revision_in_a_further_call_is_left_to_review(world: Bench) -> None:
    world.upstream.twist = lambda call, honest: {**honest, "revision": f"r{len(world.upstream.requests)}"}
    answer = world.post(input_type="document", documents=[["x" * 1000]] * 300, max_cost=1_000_000)
    assert (answer.status_code, answer.json()["error"]["code"]) == (502, "upstream_invalid")
    world.assert_in_review()


def test_a_document_stays_in_one_call(world: Bench) -> None:
    documents = [["a" * 70_000, "b" * 70_000], ["c"]]
    assert world.post(input_type="document", documents=documents, max_cost=1_000_000).status_code == 200
    assert [call.body["documents"] for call in world.upstream.requests] == [documents[:1], documents[1:]]


def test_a_refusal_costs_nothing(world: Bench) -> None:
    world.upstream.twist = lambda call, honest: refusal(400, message="secret")
    answer = world.post(**MEMBERS)
    assert (answer.status_code, answer.json()["error"]["code"]) == (400, "invalid_request")
    assert world.caller.only_call.state == "released"


UNIT = [1.0, *[0.0] * 1023]


@pytest.mark.parametrize(
    "members",
    [
        {"embeddings": []},
        {"embeddings": [[UNIT, UNIT]]},
        {"embeddings": [[UNIT], [UNIT]]},
        {"embeddings": [[UNIT, UNIT], [UNIT, UNIT]]},
        {"embeddings": [[UNIT, UNIT], UNIT]},
        {"embeddings": [[UNIT, [0.0] * 1024], [UNIT]]},
        {"embeddings": [[UNIT, [1e300] * 1024], [UNIT]]},
        {"embeddings": [[UNIT, UNIT[:-1]], [UNIT]]},
        {"embeddings": None},
        {"dimensions": 2048},
        {"revision": None},
        {"usage": {"input_tokens": -4}},
        {"usage": {"input_tokens": 1e99}},
    ],
)
def test_a_malformed_answer_is_left_to_review(world: Bench, members: Any) -> None:
    world.upstream.twist = lambda call, honest: {**honest, **members}
    answer = world.post(**MEMBERS)
    assert (answer.status_code, answer.json()["error"]["code"]) == (502, "upstream_invalid")
    world.assert_in_review()


@pytest.mark.parametrize("value", [0.5, 128, -129, "1", None])
def test_int8_that_is_none_is_left_to_review(world: Bench, value: Any) -> None:
    world.upstream.twist = lambda call, honest: {**honest, "embeddings": [[[value] * 1024]]}
    answer = world.post(input_type="document", documents=[["x"]], quantization="int8")
    assert (answer.status_code, answer.json()["error"]["code"]) == (502, "upstream_invalid")
    world.assert_in_review()


def test_missing_usage_leaves_the_answer_and_its_charge_to_review(world: Bench) -> None:
    world.upstream.twist = lambda call, honest: {**honest, "usage": None}
    answer = world.post(**MEMBERS)
    assert (answer.status_code, answer.json()["usage"]) == (200, None)
    world.assert_in_review()


@pytest.mark.parametrize(
    ("members", "param"),
    [
        ({"documents": DOCUMENTS}, "input_type"),
        ({"input_type": "passage", "documents": DOCUMENTS}, "input_type"),
        ({"input_type": "document"}, "documents"),
        ({"input_type": "query"}, "queries"),
        ({"input_type": "document", "queries": ["x"]}, "queries"),
        ({"input_type": "document", "documents": DOCUMENTS, "queries": ["x"]}, "queries"),
        ({"input_type": "query", "documents": DOCUMENTS, "queries": ["x"]}, "documents"),
        ({"input_type": "document", "documents": []}, "documents"),
        ({"input_type": "document", "documents": [[]]}, "documents.0"),
        ({"input_type": "document", "documents": [["x"], "y"]}, "documents.1"),
        ({"input_type": "document", "documents": [["x", ""]]}, "documents.0.1"),
        ({"input_type": "document", "documents": [["x", 5]]}, "documents.0.1"),
        ({"input_type": "document", "documents": [["x"]] * 1001}, "documents"),
        ({"input_type": "document", "documents": [["x"] * 501] * 2}, "documents"),
        ({"input_type": "query", "queries": "x"}, "queries"),
        ({"input_type": "query", "queries": [["x"]]}, "queries.0"),
        ({**MEMBERS, "dimensions": 512}, "dimensions"),
        ({**MEMBERS, "dimensions": 1024.0}, "dimensions"),
        ({**MEMBERS, "dimensions": "1024"}, "dimensions"),
        ({**MEMBERS, "quantization": "binary"}, "quantization"),
        ({**MEMBERS, "quantization": ["int8"]}, "quantization"),
        ({**MEMBERS, "manifest_id": "0" * 64}, "manifest_id"),
        ({**MEMBERS, "output_dtype": "int8"}, "output_dtype"),
        ({**MEMBERS, "novelty": None}, "novelty"),
        ({**MEMBERS, "api_base": "https://elsewhere.example"}, "api_base"),
    ],
)
def test_what_cannot_be_embedded_is_refused_by_name(world: Bench, members: Any, param: str) -> None:
    world.assert_refused(world.post(**members), 400, "invalid_request", param)


@pytest.mark.parametrize("price", [None, {"output_token": "1"}, {"input_item": "1"}])
def test_without_a_price_for_its_input_it_is_unavailable(world: Bench, price: Any) -> None:
    world.serve(price=price, options=alias_options(PATH))
    world.assert_refused(world.post(**MEMBERS), 503, "model_unavailable")


@pytest.mark.parametrize(("price", "cost"), [({"input_kilobyte": "7"}, 7), ({"request": "3"}, 3)])
def test_every_component_is_charged(world: Bench, price: Any, cost: int) -> None:
    world.serve(price=price, options=alias_options(PATH))
    assert world.post(**MEMBERS).status_code == 200
    world.assert_charged(cost)


def test_what_cannot_contradict_is_not_compared(world: Bench) -> None:
    world.serve(options={**alias_options(PATH), "normalized": True, "revision": "r1"})
    assert world.post(**MEMBERS, quantization="int8").status_code == 200
    assert world.upstream.requests[0].body["revision"] == "r1"


def test_without_a_representation_upstream_it_is_unavailable(stage: Stage) -> None:
    alias, caller = stage.model(options=alias_options(PATH)), stage.caller()
    answer = caller.post({"model": alias, **MEMBERS}, path=PATH)
    assert (answer.status_code, answer.json()["error"]["code"]) == (503, "model_unavailable")
    assert caller.calls == []
