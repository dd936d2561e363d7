"""Embeddings that select a representation, at an upstream of our own protocol."""

import base64
import struct
import threading
from collections.abc import Iterator
from typing import Any

import pytest
from aiohttp import web

from tests.inference.routes.vectors import Bench, alias_options, bench, manifest_id
from tests.support.stage import EMBEDDINGS, Stage
from tests.support.vector_upstreams import RepresentationUpstream
from tests.support.vector_upstreams.server import ReceivedRequest, refusal, vector

OPTIONS = alias_options(EMBEDDINGS)


@pytest.fixture
def world(stage: Stage, running: RepresentationUpstream) -> Iterator[Bench]:
    running.revision = "r1"
    with bench(stage, running, EMBEDDINGS) as made:
        yield made


def test_an_answer_has_the_vendors_members_and_a_manifest(world: Bench) -> None:
    answer = world.post(input=["one badger", "two"], input_type="document")
    assert answer.status_code == 200
    manifest = {
        "alias": world.model,
        "provider": "representation",
        "model": "vectors-1",
        "revision": "r1",
        "dimensions": 8,
        "quantization": "float",
        "normalized": True,
        "input_type": "document",
    }
    assert answer.json() == {
        "object": "list",
        "model": world.model,
        "data": [
            {"object": "embedding", "index": 0, "embedding": vector("one badger", 8)},
            {"object": "embedding", "index": 1, "embedding": vector("two", 8)},
        ],
        "manifest": manifest,
        "manifest_id": manifest_id(manifest),
        "usage": {"prompt_tokens": 3, "total_tokens": 3},
    }
    world.assert_charged(6)
    [call] = world.upstream.requests
    assert call.path == "/embed"
    assert call.key == world.caller.only_call.id
    assert call.body == {
        "model": "vectors-1",
        "input": [{"type": "text", "text": "one badger"}, {"type": "text", "text": "two"}],
        "input_type": "document",
        "truncation": False,
    }


def test_the_hold_covers_every_byte_and_what_a_model_puts_around_an_input(world: Bench) -> None:
    assert world.post(input=["ab", "é"]).status_code == 200
    assert world.caller.only_call.hold_microusd == 2 * (2 + 2 + 2 * 32)


def test_base64_is_little_endian_single_precision(world: Bench) -> None:
    answer = world.post(input="one", encoding_format="base64", dimensions=4)
    [item] = answer.json()["data"]
    assert struct.unpack("<4f", base64.b64decode(item["embedding"])) == tuple(vector("one", 4))
    assert answer.json()["manifest"]["dimensions"] == 4


def test_a_repeated_request_gets_the_same_answer_and_costs_nothing(world: Bench) -> None:
    first, again = (world.post(input="one", key="same") for _ in range(2))
    assert (again.content, again.headers["idempotent-replayed"]) == (first.content, "true")
    world.assert_charged(2)
    assert len(world.upstream.requests) == 1


def test_input_types_share_a_manifest_id(world: Bench) -> None:
    query, document = (world.post(input="one", input_type=kind).json() for kind in ("query", "document"))
    assert query["manifest_id"] == document["manifest_id"]
    assert (query["manifest"]["input_type"], document["manifest"]["input_type"]) == ("query", "document")


def test_a_pinned_manifest_is_requested_by_its_revision(world: Bench) -> None:
    pinned = world.post(input="one").json()["manifest_id"]
    answer = world.post(input="two", manifest_id=pinned)
    assert answer.json()["manifest_id"] == pinned
    assert world.upstream.requests[1].body["revision"] == "r1"


@pytest.mark.parametrize("pinned", ["0" * 64, "x", "é"])
def test_another_manifest_is_refused_before_anything_is_spent(world: Bench, pinned: str) -> None:
    world.assert_refused(world.post(input="one", manifest_id=pinned), 409, "manifest_mismatch", "manifest_id")


def test_the_manifest_of_other_dimensions_is_refused_before_anything_is_spent(world: Bench) -> None:
    pinned = world.post(input="one", dimensions=4).json()["manifest_id"]
    assert world.post(input="one", dimensions=8).status_code == 200
    answer = world.post(input="one", dimensions=8, manifest_id=pinned)
    assert (answer.status_code, answer.json()["error"]["code"]) == (409, "manifest_mismatch")
    assert (len(world.upstream.requests), len(world.caller.calls)) == (2, 2)


def test_the_manifest_of_a_former_revision_is_refused_before_anything_is_spent(world: Bench) -> None:
    former = world.post(input="one").json()["manifest_id"]
    world.upstream.revision = "r2"  # type: ignore[union-attr]
    present = world.post(input="one").json()["manifest_id"]
    assert former != present
    answer = world.post(input="one", manifest_id=former)
    assert (answer.status_code, answer.json()["error"]["code"]) == (409, "manifest_mismatch")
    assert (len(world.upstream.requests), len(world.caller.calls)) == (2, 2)
    assert world.post(input="one", manifest_id=present).status_code == 200


def test_a_replay_comes_before_a_manifest_that_no_longer_matches(world: Bench) -> None:
    former = world.post(input="one").json()["manifest_id"]
    first = world.post(input="one", manifest_id=former, key="pinned")
    world.upstream.revision = "r2"  # type: ignore[union-attr]
    world.post(input="one")
    again = world.post(input="one", manifest_id=former, key="pinned")
    assert (again.status_code, again.content) == (200, first.content)


def test_a_configured_representation_is_known_before_any_answer(world: Bench) -> None:
    facts = {"revision": "r1", "dimensions": 8, "normalized": True, "provider": "house"}
    world.serve(options={**OPTIONS, **facts})
    manifest = {"alias": world.model, "model": "vectors-1", "quantization": "float", **facts}
    answer = world.post(input="one", manifest_id=manifest_id(manifest))
    assert answer.status_code == 200
    assert answer.json()["manifest"] == {**manifest, "input_type": None}
    assert world.upstream.requests[0].body["revision"] == "r1"
    assert world.upstream.requests[0].body["dimensions"] == 8


def test_an_upstream_that_has_no_such_revision_any_more_costs_nothing(world: Bench) -> None:
    pinned = world.post(input="one").json()["manifest_id"]
    world.upstream.twist = lambda call, honest: refusal(409, code="revision_unavailable")
    answer = world.post(input="one", manifest_id=pinned)
    assert (answer.status_code, answer.json()["error"]["code"]) == (409, "manifest_mismatch")
    assert world.caller.calls[-1].state == "released"


def test_an_answer_of_another_revision_than_the_pinned_one_is_left_to_review(world: Bench) -> None:
    pinned = world.post(input="one").json()["manifest_id"]
    world.upstream.revision = "r2"  # type: ignore[union-attr]
    answer = world.post(input="one", manifest_id=pinned)
    assert (answer.status_code, answer.json()["error"]["code"]) == (502, "upstream_invalid")
    assert world.caller.calls[-1].state == "review"


def test_many_inputs_are_embedded_in_several_calls_of_one_revision(world: Bench) -> None:
    texts = [f"badger {index}" for index in range(300)]
    answer = world.post(input=texts)
    found = answer.json()["data"]
    assert [item["index"] for item in found] == list(range(300))
    assert [item["embedding"] for item in found] == [vector(text, 8) for text in texts]
    first, second = world.upstream.requests
    assert "revision" not in first.body
    assert second.body["revision"] == "r1"
    assert second.key == f"{first.key}-1"
    world.assert_charged(2 * 600)


def test_another_revision_in_a_further_call_is_left_to_review(world: Bench) -> None:
    world.upstream.twist = lambda call, honest: {**honest, "revision": f"r{len(world.upstream.requests)}"}
    answer = world.post(input=["badger"] * 300)
    assert (answer.status_code, answer.json()["error"]["code"]) == (502, "upstream_invalid")
    world.assert_in_review()


@pytest.mark.parametrize("status", [400, 401, 413, 429, 500, 503])
def test_a_refusal_behind_an_answer_is_left_to_review(world: Bench, status: int) -> None:
    def second_fails(call: ReceivedRequest, honest: Any) -> Any:
        return honest if len(world.upstream.requests) == 1 else refusal(status, code="overloaded")

    world.upstream.twist = second_fails
    assert world.post(input=["badger"] * 300).status_code >= 400
    world.assert_in_review()
    assert len(world.upstream.requests) == 2


def test_all_calls_together_have_the_time_of_one(world: Bench, stage: Stage) -> None:
    done = threading.Event()

    def second_hangs(call: ReceivedRequest, honest: Any) -> Any:
        if len(world.upstream.requests) == 2:
            done.wait()
        return honest

    world.upstream.twist = second_hangs
    row = stage.upstream_row(adapter="representation", base_url=world.upstream.base_url, timeout_seconds=1)
    world.model = stage.model("vectors-1", price={"input_token": "2"}, upstream=row, options=OPTIONS)
    try:
        answer = world.post(input=["badger"] * 600)
    finally:
        done.set()
    assert (answer.status_code, answer.json()["error"]["code"]) == (504, "upstream_timeout")
    world.assert_in_review()


@pytest.mark.parametrize(
    ("status", "answered", "code"),
    [(400, 400, "invalid_request"), (413, 413, "input_too_large"), (500, 502, "upstream_error")],
)
def test_a_refusal_of_the_only_call_costs_nothing(world: Bench, status: int, answered: int, code: str) -> None:
    world.upstream.twist = lambda call, honest: refusal(status, message="secret words")
    answer = world.post(input="one")
    assert (answer.status_code, answer.json()["error"]["code"]) == (answered, code)
    assert "secret" not in answer.text
    assert world.caller.only_call.state == "released"
    assert world.caller.wallet == {"balance": 1_000_000, "held": 0, "debt": 0}


def without(name: str) -> Any:
    return lambda call, honest: {member: value for member, value in honest.items() if member != name}


def with_(**members: Any) -> Any:
    return lambda call, honest: {**honest, **members}


@pytest.mark.parametrize(
    "twist",
    [
        without("revision"),
        without("dimensions"),
        without("embeddings"),
        with_(revision=7),
        with_(revision=""),
        with_(revision="a\0b"),
        with_(revision="r" * 201),
        with_(dimensions=9),
        with_(dimensions=8.0),
        with_(dimensions=-1),
        with_(dimensions=True),
        with_(normalized="yes"),
        with_(embeddings=[]),
        with_(embeddings=[[0.5] * 8] * 2),
        with_(embeddings=[[0.5] * 7]),
        with_(embeddings=[[]]),
        with_(embeddings=[["0.5"] * 8]),
        with_(embeddings=[[None] * 8]),
        with_(embeddings=[[True] * 8]),
        with_(embeddings=[[10**400] * 8]),
        with_(embeddings=[{"0": 1}]),
        with_(embeddings="x"),
        with_(embeddings=[[[0.5] * 8]]),
        with_(usage=[]),
        with_(usage={"input_tokens": -1}),
        with_(usage={"input_tokens": 1.5}),
        with_(usage={"input_tokens": "3"}),
        with_(usage={"input_tokens": True}),
        with_(usage={"input_tokens": 10**12}),
        with_(error={"message": "no"}),
        lambda call, honest: web.Response(body=b"[]", content_type="application/json"),
        lambda call, honest: web.Response(body=b"<html>", content_type="text/html"),
        lambda call, honest: web.Response(body=b'{"embeddings": [[NaN]]}', content_type="application/json"),
    ],
)
def test_a_malformed_answer_is_left_to_review(world: Bench, twist: Any) -> None:
    world.upstream.twist = twist
    answer = world.post(input="one")
    assert (answer.status_code, answer.json()["error"]["code"]) == (502, "upstream_invalid")
    world.assert_in_review()


@pytest.mark.parametrize("twist", [without("usage"), with_(usage={}), with_(usage=None)])
def test_an_answer_without_usage_is_given_and_left_to_review(world: Bench, twist: Any) -> None:
    world.upstream.twist = twist
    answer = world.post(input="one")
    assert answer.status_code == 200
    assert answer.json()["usage"] is None
    assert answer.json()["data"][0]["embedding"] == vector("one", 8)
    assert "x-service-charge-microusd" not in answer.headers
    world.assert_in_review()


def test_usage_beyond_the_hold_is_charged_up_to_it(world: Bench) -> None:
    world.upstream.twist = with_(usage={"input_tokens": 5000})
    assert world.post(input="one").status_code == 200
    world.assert_charged(world.caller.only_call.hold_microusd)


@pytest.mark.parametrize(
    ("members", "param"),
    [
        ({"input": ""}, "input.0"),
        ({"input": []}, "input"),
        ({"input": ["x", ""]}, "input.1"),
        ({"input": [[1, 2]]}, "input.0"),
        ({"input": [1, 2]}, "input.0"),
        ({"input": None}, "input"),
        ({"input": {"type": "text", "text": "x"}}, "input"),
        ({"input": ["x"] * 2049}, "input"),
        ({"input": [{"type": "text"}]}, "input.0"),
        ({"input": [{"type": "file", "file": "x"}]}, "input.0"),
        ({"input": [{"type": "text", "text": "x", "image_url": "y"}]}, "input.0.image_url"),
        ({"input": "x", "input_type": "passage"}, "input_type"),
        ({"input": "x", "input_type": ["query"]}, "input_type"),
        ({"input": "x", "truncation": "yes"}, "truncation"),
        ({"input": "x", "truncation": 1}, "truncation"),
        ({"input": "x", "manifest_id": 7}, "manifest_id"),
        ({"input": "x", "manifest_id": ""}, "manifest_id"),
        ({"input": "x", "dimensions": 0}, "dimensions"),
        ({"input": "x", "dimensions": True}, "dimensions"),
        ({"input": "x", "encoding_format": "hex"}, "encoding_format"),
        ({"input": "x", "encoding_format": []}, "encoding_format"),
        ({"input": "x", "output_dtype": "int8"}, "output_dtype"),
        ({"input": "x", "revision": "r0"}, "revision"),
        ({"input": "x", "provider": "other"}, "provider"),
    ],
)
def test_what_cannot_be_embedded_is_refused_by_name(world: Bench, members: Any, param: str) -> None:
    world.assert_refused(world.post(**members), 400, "invalid_request", param)


@pytest.mark.parametrize("price", [None, {"output_token": "1"}, {"input_audio_token": "1"}])
def test_without_a_price_for_its_input_it_is_unavailable(world: Bench, price: Any) -> None:
    world.serve(price=price, options=OPTIONS)
    world.assert_refused(world.post(input="one"), 503, "model_unavailable")


@pytest.mark.parametrize(
    ("price", "cost"),
    [
        ({"input_kilobyte": "7"}, 14),
        ({"input_item": "5"}, 10),
        ({"request": "3"}, 3),
        ({"input_token": "2", "input_item": "5", "input_kilobyte": "7", "request": "3"}, 2 * 2 + 14 + 3),
        ({"input_item": "5", "input_kilobyte": "7"}, 14),
    ],
)
def test_every_component_is_charged(world: Bench, price: Any, cost: int) -> None:
    world.serve(price=price, options=OPTIONS)
    assert world.post(input=["b" * 1000, "a"]).status_code == 200
    world.assert_charged(cost)


def test_deployments_of_different_models_are_not_one_representation(world: Bench, stage: Stage) -> None:
    from inference.models import Alias, Deployment
    from inference.queries import catalogue

    row = stage.upstream_row(adapter="representation", base_url=world.upstream.base_url)
    Deployment.objects.create(alias=Alias.objects.get(name=world.model), upstream=row, model="vectors-2")
    catalogue.forget()
    world.assert_refused(world.post(input="one"), 503, "model_unavailable")


def test_two_upstreams_of_one_model_are_one_representation(world: Bench, stage: Stage) -> None:
    from inference.models import Alias, Deployment
    from inference.queries import catalogue

    row = stage.upstream_row(adapter="representation", base_url=world.upstream.base_url)
    Deployment.objects.create(alias=Alias.objects.get(name=world.model), upstream=row, model="vectors-1")
    catalogue.forget()
    assert world.post(input="one").status_code == 200


@pytest.mark.parametrize(
    "members", [{"input_type": "query"}, {"manifest_id": "0" * 64}, {"truncation": True}, {"truncation": False}]
)
def test_without_a_representation_upstream_it_is_unavailable(stage: Stage, members: Any) -> None:
    alias, caller = stage.model(options=OPTIONS), stage.caller()
    answer = caller.post({"model": alias, "input": "one", **members}, path=EMBEDDINGS)
    assert (answer.status_code, answer.json()["error"]["code"]) == (503, "model_unavailable")
    assert caller.calls == []
    assert len(stage.upstream.ledger) == 0


def test_plain_requests_keep_the_vendors_answer_where_no_dense_upstream_is(stage: Stage) -> None:
    alias, caller = stage.model(options=OPTIONS), stage.caller()
    body = {"input": "one", "dimensions": 4, "encoding_format": "float", "user": "u", "input_type": None}
    answer = caller.post({"model": alias, **body}, path=EMBEDDINGS)
    assert sorted(answer.json()) == ["data", "model", "object", "usage"]
    [entry] = stage.upstream.ledger
    assert entry.body == {**body, "model": "small-1"}
