"""Reranking by the demo: by shared words, and by the local model."""

from typing import Any

import pytest

from tests.inference.routes.reranking import PATH, PRICE, rerank
from tests.support.stage import Caller, Stage


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


NEAR, FAR, OTHER = "The dog made noise all night.", "Interest rates went up again.", "Rain is expected on Tuesday."


def demo(stage: Stage, **members: Any) -> tuple[Caller, Any]:
    price = {"input_kilobyte": "20", "input_token": "2"}
    upstream = stage.upstream_row(adapter="demo", base_url="", api_key="")
    alias, caller = stage.model("demo", upstream=upstream, price=price, options={"routes": ["rerank"]}), stage.caller()
    return caller, caller.post(rerank(alias, **members), path=PATH)


def test_the_demos_local_model_reranks_by_meaning(stage: Stage, settings: Any) -> None:
    documents = [FAR, NEAR, OTHER]
    settings.LOCAL_MODEL = True
    caller, answer = demo(stage, query="a pet that barks", documents=documents)
    body = answer.json()
    first, second, _ = body["results"]
    assert first["index"] == 1
    assert first["relevance_score"] > second["relevance_score"] + 0.2
    assert body["results"][-1]["relevance_score"] >= 0
    call = caller.only_call
    assert call.charge_microusd == 20 + 2 * body["usage"]["total_tokens"]
    assert call.charge_microusd <= call.hold_microusd
    assert caller.wallet == {"balance": 1_000_000 - call.charge_microusd, "held": 0, "debt": 0}


@pytest.mark.parametrize(
    ("members", "param"),
    [({"query": "word " * 511}, "query"), ({"documents": ["x", "word " * 511]}, "documents.1")],
)
def test_the_demos_local_model_cuts_what_truncation_lets_it(
    stage: Stage, settings: Any, members: Any, param: str
) -> None:
    settings.LOCAL_MODEL = True
    caller, answer = demo(stage, **members)
    error = answer.json()["error"]
    assert (answer.status_code, error["code"], error["param"]) == (400, "invalid_request", param)
    assert caller.wallet == {"balance": 1_000_000, "held": 0, "debt": 0}
    caller, answer = demo(stage, **members, truncation=True)
    assert answer.status_code == 200, answer.text
    assert caller.only_call.state == "settled"
