"""What reranking refuses before anything is held: invalid bodies, and what could exceed a provider's limits."""

from typing import Any

import pytest

from inference.queries import catalogue
from tests.inference.routes.refusals import assert_refused
from tests.inference.routes.reranking import PATH, QUERY, ask, model_at, rerank, row
from tests.support.stage import Stage


@pytest.mark.parametrize(
    ("members", "param"),
    [
        ({"query": None}, "query"),
        ({"query": ""}, "query"),
        ({"query": 7}, "query"),
        ({"instruction": ["x"]}, "instruction"),
        ({"documents": None}, "documents"),
        ({"documents": []}, "documents"),
        ({"documents": "one"}, "documents"),
        ({"documents": ["one", ""]}, "documents.1"),
        ({"documents": [{"text": "one"}]}, "documents.0"),
        ({"documents": ["one", None]}, "documents.1"),
        ({"top_n": 0}, "top_n"),
        ({"top_n": 1.0}, "top_n"),
        ({"top_n": True}, "top_n"),
        ({"top_n": 1001}, "top_n"),
        ({"return_documents": "yes"}, "return_documents"),
        ({"truncation": 1}, "truncation"),
        ({"top_k": 2}, "top_k"),
        ({"max_tokens_per_doc": 5}, "max_tokens_per_doc"),
        ({"max_chunks_per_doc": 5}, "max_chunks_per_doc"),
        ({"rank_fields": ["title"]}, "rank_fields"),
        ({"relevant_spans": {}}, "relevant_spans"),
        ({"api_base": "https://elsewhere.example"}, "api_base"),
        ({"priority": 0}, "priority"),
        ({"novelty": 1}, "novelty"),
        ({"manifest_id": "x"}, "manifest_id"),
        ({"input_type": "query"}, "input_type"),
    ],
)
def test_a_body_that_is_not_valid_is_refused_by_name(stage: Stage, members: dict[str, Any], param: str) -> None:
    alias, caller = model_at(stage), stage.caller()
    body = {**rerank(alias), **members}
    answer = caller.post({name: value for name, value in body.items() if value is not None}, path=PATH)
    assert_refused(stage, caller, answer, 400, "invalid_request", param)


@pytest.mark.parametrize(
    ("adapter", "members", "param"),
    [
        ("voyage", {"documents": ["d"] * 1001}, "documents"),
        ("voyage", {"query": "q" * 8_001, "documents": ["d"]}, "query"),
        ("voyage", {"query": "q" * 4_000, "instruction": "i" * 4_000, "documents": ["d"]}, "query"),
        ("voyage", {"query": "q" * 96, "documents": ["d", "d" * 31_901]}, "documents.1"),
        ("voyage", {"query": "q" * 596, "documents": ["d"] * 999}, "documents"),
        ("voyage", {"query": "é" * 4_001, "documents": ["d"]}, "query"),
        ("cohere", {"documents": ["d"] * 1001}, "documents"),
        ("cohere", {"query": "q" * 2_049, "documents": ["d"]}, "query"),
        ("cohere", {"query": "q" * 92, "documents": ["d" * 4_001]}, "documents.0"),
        ("cohere", {"query": "q" * 92, "documents": ["🙂" * 1_001]}, "documents.0"),
    ],
)
def test_what_could_exceed_the_providers_limits_is_refused_before_anything_is_held(
    stage: Stage, adapter: str, members: dict[str, Any], param: str
) -> None:
    caller, answer = ask(stage, adapter, **members)
    assert_refused(stage, caller, answer, 413, "input_too_large", param)


@pytest.mark.parametrize(
    ("adapter", "members"),
    [
        ("voyage", {"documents": ["d"] * 1000, "query": "q" * 595}),
        ("voyage", {"query": "q" * 8_000, "documents": ["d"]}),
        ("voyage", {"query": "q" * 96, "documents": ["d", "d" * 31_900]}),
        ("cohere", {"query": "q" * 92, "documents": ["d" * 4_000]}),
        ("cohere", {"query": "q" * 2_048, "documents": ["d" * 2_044]}),
    ],
)
def test_what_fits_to_the_byte_is_sent(stage: Stage, adapter: str, members: dict[str, Any]) -> None:
    _, answer = ask(stage, adapter, **members)
    assert answer.status_code == 200


def test_the_aliass_context_takes_the_place_of_a_pairs_limit(stage: Stage) -> None:
    _, answer = ask(stage, "cohere", fields={"context_tokens": 32_768}, query="q", documents=["d" * 32_763])
    assert answer.status_code == 200
    assert stage.upstream.ledger.entries[0].body["max_tokens_per_doc"] == 32_768
    stage.upstream.reset()
    caller, answer = ask(stage, "voyage", fields={"context_tokens": 100}, query="q", documents=["d" * 96])
    assert_refused(stage, caller, answer, 413, "input_too_large", "documents.0")


def test_truncation_lets_long_texts_through_where_the_provider_cuts_them(stage: Stage) -> None:
    documents = ["d" * 40_000, "d"]
    caller, answer = ask(stage, truncation=True, documents=documents)
    assert answer.status_code == 200
    assert stage.upstream.ledger.entries[0].body["truncation"] is True
    paid_bytes = 40_001 + 2 * len(QUERY)
    assert caller.wallet["balance"] == 1_000_000 - 20 * -(-paid_bytes // 1000)


def test_truncation_does_not_lift_the_limit_of_all_documents_together(stage: Stage) -> None:
    caller, answer = ask(stage, truncation=True, documents=["d" * 32_000] * 19)
    assert_refused(stage, caller, answer, 413, "input_too_large", "documents")


def test_a_query_whose_repetitions_no_count_can_hold_is_refused(stage: Stage) -> None:
    fields = {"context_tokens": 100}
    caller, answer = ask(stage, fields=fields, truncation=True, query="q" * 2_100_000, documents=["d"] * 1000)
    assert_refused(stage, caller, answer, 413, "input_too_large", "query")


def test_truncation_is_refused_where_any_provider_of_the_alias_does_not_take_it(stage: Stage) -> None:
    from inference.models import Alias, Deployment

    caller, answer = ask(stage, "cohere", truncation=True)
    assert_refused(stage, caller, answer, 400, "invalid_request", "truncation")
    alias = model_at(stage, "voyage")
    second = row(stage, "cohere")
    Deployment.objects.create(alias=Alias.objects.get(name=alias), upstream=second, model="rerank-2", priority=1)
    catalogue.forget()
    caller = stage.caller()
    answer = caller.post(rerank(alias, truncation=True), path=PATH)
    assert_refused(stage, caller, answer, 400, "invalid_request", "truncation")
    answer = caller.post(rerank(alias, query="q", documents=["d" * 5_000]), path=PATH)
    assert_refused(stage, caller, answer, 413, "input_too_large", "documents.0")
