"""Reranking from outside: what goes upstream, what comes back, and what it costs."""

from typing import Any

import pytest

from billing.models import UsageRecord
from billing.queries import audit
from inference.queries import catalogue
from tests.support.stage import Caller, Stage
from tests.support.upstream.rerank import SPOILED

PATH = "/v1/rerank"
PRICE = {"input_kilobyte": "20"}
QUERY = "what do badgers eat"
DOCUMENTS = ["rain on tuesday", "badgers eat earthworms", "badgers sleep"]
HONEST = ("", "worst_first")
TEXT_BYTES = sum(map(len, DOCUMENTS))


def rerank(model: str, **members: Any) -> dict[str, Any]:
    """Make a request's body; None leaves a member out."""
    body = {"model": model, "query": QUERY, "documents": DOCUMENTS, **members}
    return {name: value for name, value in body.items() if value is not None}


def row(stage: Stage, adapter: str) -> Any:
    return stage.upstream_row(
        adapter=adapter, base_url=stage.upstream.origin if adapter == "cohere" else stage.upstream.base_url
    )


def model_at(stage: Stage, adapter: str = "voyage", **fields: Any) -> str:
    fields = {"price": PRICE, "options": {"routes": ["rerank"]}, **fields}
    return stage.model("rerank-1", upstream=row(stage, adapter), **fields)


def ask(stage: Stage, adapter: str = "voyage", *, fields: Any = None, **members: Any) -> tuple[Caller, Any]:
    alias, caller = model_at(stage, adapter, **(fields or {})), stage.caller()
    return caller, caller.post(rerank(alias, **members), path=PATH)


def assert_refused(stage: Stage, caller: Caller, answer: Any, status: int, code: str, param: str | None) -> None:
    error = answer.json()["error"]
    assert (answer.status_code, error["code"], error["param"]) == (status, code, param)
    assert caller.calls == []
    assert caller.wallet == {"balance": 1_000_000, "held": 0, "debt": 0}
    assert len(stage.upstream.ledger) == 0


def test_voyage_reranks_and_the_bytes_are_charged(stage: Stage) -> None:
    alias, caller = model_at(stage), stage.caller()
    answer = caller.post(rerank(alias, top_n=2), path=PATH)
    told = answer.json()
    assert told.pop("id").startswith("rrk_")
    paid_bytes = TEXT_BYTES + len(QUERY) * 3
    [entry] = stage.upstream.ledger
    assert told == {
        "object": "list",
        "model": alias,
        "results": [{"index": 1, "relevance_score": 0.4}, {"index": 2, "relevance_score": 0.2}],
        "usage": {"input_bytes": paid_bytes, "total_tokens": entry.prompt_tokens},
    }
    assert entry.body == {
        "model": "rerank-1",
        "query": QUERY,
        "documents": DOCUMENTS,
        "top_k": 2,
        "return_documents": False,
        "truncation": False,
    }
    assert (answer.headers["x-service-hold-microusd"], answer.headers["x-service-charge-microusd"]) == ("20", "20")
    assert caller.wallet == {"balance": 999_980, "held": 0, "debt": 0}
    used = UsageRecord.objects.get(reservation_id=caller.only_call.id)
    assert (used.input_bytes, used.items, used.input_tokens) == (paid_bytes, 3, entry.prompt_tokens)
    assert audit.findings() == []


def test_cohere_reranks_by_its_own_names(stage: Stage) -> None:
    caller, answer = ask(stage, "cohere", top_n=1, instruction="Zoology.", truncation=False)
    told = answer.json()
    assert told["results"] == [{"index": 1, "relevance_score": pytest.approx(1 / 3, abs=1e-6)}]
    assert told["usage"] == {"input_bytes": TEXT_BYTES + (len(QUERY) + len("Zoology.")) * 3}
    [entry] = stage.upstream.ledger
    assert entry.path == "/v2/rerank"
    assert entry.body == {
        "model": "rerank-1",
        "query": f"Zoology.\n{QUERY}",
        "documents": DOCUMENTS,
        "top_n": 1,
        "max_tokens_per_doc": 4096,
    }
    assert caller.wallet == {"balance": 999_980, "held": 0, "debt": 0}


@pytest.mark.parametrize(
    ("members", "paid_bytes"),
    [
        ({"query": "q" * 100, "documents": ["d" * 900]}, 1000),
        ({"query": "q" * 100, "documents": ["d" * 901]}, 1001),
        ({"query": "q" * 100, "documents": ["d" * 400] * 2}, 1000),
        ({"query": "é" * 50, "documents": ["🙂" * 100] * 2}, 1000),
        ({"query": "q", "instruction": "i" * 99, "documents": ["d" * 400] * 2}, 1000),
    ],
)
def test_every_begun_kilobyte_is_paid(stage: Stage, members: dict[str, Any], paid_bytes: int) -> None:
    caller, answer = ask(stage, **members)
    assert answer.json()["usage"]["input_bytes"] == paid_bytes
    assert caller.wallet["balance"] == 1_000_000 - 20 * -(-paid_bytes // 1000)


def test_documents_come_back_only_if_asked_for(stage: Stage) -> None:
    _, answer = ask(stage, return_documents=True, top_n=1)
    assert answer.json()["results"] == [
        {"index": 1, "relevance_score": 0.4, "document": {"text": "badgers eat earthworms"}}
    ]
    assert stage.upstream.ledger.entries[0].body["return_documents"] is False


def test_more_results_than_documents_may_be_asked_for(stage: Stage) -> None:
    _, answer = ask(stage, top_n=1000)
    assert [result["index"] for result in answer.json()["results"]] == [1, 2, 0]


def test_a_member_that_is_not_known_here_goes_upstream(stage: Stage) -> None:
    ask(stage, novelty={"a": 1})
    assert stage.upstream.ledger.entries[0].body["novelty"] == {"a": 1}


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


def test_tokens_are_charged_where_they_have_a_price_as_well(stage: Stage) -> None:
    price = {"input_kilobyte": "20", "input_token": "2", "input_item": "5", "request": "7"}
    caller, answer = ask(stage, fields={"price": price})
    tokens = stage.upstream.ledger.entries[0].prompt_tokens
    bound = TEXT_BYTES + (len(QUERY) + 4) * 3
    assert answer.headers["x-service-hold-microusd"] == str(20 + 2 * bound + 5 * 3 + 7)
    assert caller.wallet["balance"] == 1_000_000 - (20 + 2 * tokens + 5 * 3 + 7)


def test_tokens_with_a_price_and_without_a_count_are_left_to_review(stage: Stage) -> None:
    caller, answer = ask(stage, "cohere", fields={"price": {"input_kilobyte": "20", "input_token": "2"}})
    assert (answer.status_code, answer.json()["usage"]) == (200, None)
    assert "x-service-charge-microusd" not in answer.headers
    assert caller.only_call.state == "review"


def test_a_count_beyond_the_hold_is_the_operators_loss(stage: Stage) -> None:
    stage.upstream.script(usage="over_cap")
    caller, answer = ask(stage, fields={"price": {"input_kilobyte": "20", "input_token": "2"}})
    hold = int(answer.headers["x-service-hold-microusd"])
    assert answer.headers["x-service-charge-microusd"] == str(hold)
    assert caller.wallet == {"balance": 1_000_000 - hold, "held": 0, "debt": 0}


@pytest.mark.parametrize("price", [None, {"input_token": "2", "output_token": "2"}, {"input_item": "5"}])
def test_without_a_price_by_the_kilobyte_there_is_no_reranking(stage: Stage, price: Any) -> None:
    caller, answer = ask(stage, fields={"price": price})
    assert_refused(stage, caller, answer, 503, "model_unavailable", None)


def test_a_flat_price_a_request_is_a_whole_price(stage: Stage) -> None:
    caller, answer = ask(stage, fields={"price": {"request": "9"}})
    assert (answer.status_code, caller.wallet["balance"]) == (200, 999_991)


@pytest.mark.parametrize("adapter", ["openai", "representation", "judgement"])
def test_an_adapter_that_does_not_rerank_is_unavailable(stage: Stage, adapter: str) -> None:
    caller, answer = ask(stage, adapter)
    assert_refused(stage, caller, answer, 503, "model_unavailable", None)


@pytest.mark.parametrize("alias", ["rerank", "rerank-lite"])
def test_the_services_own_aliases_rerank_and_nothing_else_does(stage: Stage, alias: str) -> None:
    caller = stage.caller(scopes=(f"infer:{alias}", "infer:fast"))
    assert_refused(stage, caller, caller.post(rerank(alias), path=PATH), 503, "model_unavailable", None)
    assert_refused(stage, caller, caller.post(rerank("fast"), path=PATH), 400, "invalid_request", "model")
    other = stage.caller(scopes=("infer:other",))
    assert_refused(stage, other, other.post(rerank(alias), path=PATH), 403, "insufficient_scope", None)


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


def test_the_demo_reranks_by_shared_words(stage: Stage) -> None:
    alias = stage.model(
        "demo", upstream=stage.upstream_row(adapter="demo"), price=PRICE, options={"routes": ["rerank"]}
    )
    caller = stage.caller()
    answer = caller.post(rerank(alias, truncation=True, return_documents=True), path=PATH).json()
    assert answer["results"][0]["document"]["text"] == "badgers eat earthworms"
    scores = [result["relevance_score"] for result in answer["results"]]
    assert scores == sorted(scores, reverse=True)
    assert 0 <= scores[-1] < scores[0] <= 1
    assert caller.wallet == {"balance": 999_980, "held": 0, "debt": 0}
