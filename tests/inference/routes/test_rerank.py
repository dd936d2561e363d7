"""Reranking from outside: what goes upstream, what comes back, and what it costs."""

from typing import Any

import pytest

from billing.models import UsageRecord
from billing.queries import audit
from tests.inference.routes.refusals import assert_refused
from tests.inference.routes.reranking import DOCUMENTS, PATH, QUERY, TEXT_BYTES, ask, model_at, rerank
from tests.support.stage import Stage


def test_voyage_reranks_and_the_bytes_are_charged(stage: Stage) -> None:
    alias, caller = model_at(stage), stage.caller()
    answer = caller.post(rerank(alias, top_n=2), path=PATH)
    body = answer.json()
    assert body.pop("id").startswith("rrk_")
    paid_bytes = TEXT_BYTES + len(QUERY) * 3
    [entry] = stage.upstream.ledger
    assert body == {
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
    used = UsageRecord.objects.get(call_id=caller.only_call.id)
    assert (used.input_bytes, used.items, used.input_tokens) == (paid_bytes, 3, entry.prompt_tokens)
    assert audit.findings() == []


def test_cohere_reranks_by_its_own_names(stage: Stage) -> None:
    caller, answer = ask(stage, "cohere", top_n=1, instruction="Zoology.", truncation=False)
    body = answer.json()
    assert body["results"] == [{"index": 1, "relevance_score": pytest.approx(1 / 3, abs=1e-6)}]
    assert body["usage"] == {"input_bytes": TEXT_BYTES + (len(QUERY) + len("Zoology.")) * 3}
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


def test_documents_come_back_only_on_request(stage: Stage) -> None:
    _, answer = ask(stage, return_documents=True, top_n=1)
    assert answer.json()["results"] == [
        {"index": 1, "relevance_score": 0.4, "document": {"text": "badgers eat earthworms"}}
    ]
    assert stage.upstream.ledger.entries[0].body["return_documents"] is False


def test_more_results_than_documents_may_be_requested(stage: Stage) -> None:
    _, answer = ask(stage, top_n=1000)
    assert [result["index"] for result in answer.json()["results"]] == [1, 2, 0]


def test_tokens_are_charged_where_they_have_a_price_as_well(stage: Stage) -> None:
    price = {"input_kilobyte": "20", "input_token": "2", "input_item": "5", "request": "7"}
    caller, answer = ask(stage, fields={"price": price})
    tokens = stage.upstream.ledger.entries[0].prompt_tokens
    bound = TEXT_BYTES + (len(QUERY) + 4) * 3
    assert answer.headers["x-service-hold-microusd"] == str(20 + 2 * bound + 7)
    assert caller.wallet["balance"] == 1_000_000 - (20 + 2 * tokens + 7)


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
