"""Answers of reranking upstreams that are wrong, incomplete, in another order, or refusals."""

import pytest

from tests.inference.routes.reranking import QUERY, TEXT_BYTES, ask
from tests.support.stage import Stage
from tests.support.upstream.rerank import SPOILED

HONEST = ("", "every_document", "worst_first")


@pytest.mark.parametrize("adapter", ["voyage", "cohere"])
@pytest.mark.parametrize("shape", [shape for shape in SPOILED if shape not in HONEST])
def test_results_that_are_not_one_a_document_are_left_to_review(stage: Stage, adapter: str, shape: str) -> None:
    stage.upstream.script(shape=shape)
    caller, answer = ask(stage, adapter)
    assert (answer.status_code, answer.json()["error"]["code"]) == (502, "upstream_invalid")
    assert caller.only_call.state == "review"
    assert caller.wallet == {"balance": 1_000_000, "held": 20, "debt": 0}


@pytest.mark.parametrize("adapter", ["voyage", "cohere"])
def test_results_are_put_in_order(stage: Stage, adapter: str) -> None:
    stage.upstream.script(shape="worst_first")
    _, answer = ask(stage, adapter)
    assert [result["index"] for result in answer.json()["results"]] == [1, 2, 0]


@pytest.mark.parametrize("adapter", ["voyage", "cohere"])
@pytest.mark.parametrize("top_n", [1, 2])
def test_the_best_results_are_given_of_a_provider_that_returns_all(stage: Stage, adapter: str, top_n: int) -> None:
    stage.upstream.script(shape="every_document")
    caller, answer = ask(stage, adapter, top_n=top_n)
    assert [result["index"] for result in answer.json()["results"]] == [1, 2][:top_n]
    assert caller.wallet == {"balance": 999_980, "held": 0, "debt": 0}


@pytest.mark.parametrize("usage", ["boolean", "fractional", "huge", "negative", "string"])
def test_a_count_of_tokens_that_is_none_is_left_to_review(stage: Stage, usage: str) -> None:
    stage.upstream.script(usage=usage)
    caller, answer = ask(stage)
    assert (answer.status_code, answer.json()["error"]["code"]) == (502, "upstream_invalid")
    assert caller.only_call.state == "review"


@pytest.mark.parametrize("usage", ["missing", "null", "partial"])
def test_bytes_need_no_count_of_the_providers(stage: Stage, usage: str) -> None:
    stage.upstream.script(usage=usage)
    caller, answer = ask(stage)
    assert answer.json()["usage"] == {"input_bytes": TEXT_BYTES + 3 * len(QUERY)}
    assert caller.wallet == {"balance": 999_980, "held": 0, "debt": 0}


@pytest.mark.parametrize(
    ("adapter", "status", "expected", "code", "state"),
    [
        ("voyage", 400, 400, "invalid_request", "released"),
        ("cohere", 422, 400, "invalid_request", "released"),
        ("voyage", 413, 413, "input_too_large", "released"),
        ("voyage", 401, 503, "model_unavailable", "released"),
        ("cohere", 498, 503, "model_unavailable", "released"),
        ("cohere", 404, 503, "model_unavailable", "released"),
        ("cohere", 500, 502, "upstream_error", "released"),
    ],
)
def test_a_refusal_costs_nothing(stage: Stage, adapter: str, status: int, expected: int, code: str, state: str) -> None:
    stage.upstream.script(status=status, error_message="sk-upstream-secret-0001 says no")
    caller, answer = ask(stage, adapter)
    assert (answer.status_code, answer.json()["error"]["code"]) == (expected, code)
    assert "secret" not in answer.text
    assert caller.only_call.state == state
    assert caller.wallet == {"balance": 1_000_000, "held": 0, "debt": 0}


@pytest.mark.parametrize("adapter", ["voyage", "cohere"])
@pytest.mark.parametrize("preset", ["garbage-json", "empty-body", "json-array", "truncated-json", "cut-mid-body"])
def test_an_answer_that_is_none_is_left_to_review(stage: Stage, adapter: str, preset: str) -> None:
    stage.upstream.script(preset)
    caller, answer = ask(stage, adapter)
    assert answer.status_code == 502
    assert caller.only_call.state == "review"
    assert caller.wallet == {"balance": 1_000_000, "held": 20, "debt": 0}


@pytest.mark.parametrize("adapter", ["voyage", "cohere"])
def test_an_overload_is_tried_again_and_paid_once(stage: Stage, adapter: str) -> None:
    stage.upstream.script("rate-limited")
    caller, answer = ask(stage, adapter)
    assert answer.status_code == 200
    assert len(stage.upstream.ledger) == 2
    assert caller.wallet == {"balance": 999_980, "held": 0, "debt": 0}
