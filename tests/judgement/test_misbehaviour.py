"""Backends' responses that do not answer the questions. `tests/inference/misbehaviour` has the other failures."""

from typing import Any

import pytest

from tests.judgement.bench import BALANCE, Bench, ask, post
from tests.support.upstream import leaked


def assert_in_review(caller: Any, answer: Any) -> None:
    call = caller.only_call
    assert not leaked(answer.text + str(answer.headers))
    assert (answer.status_code, answer.json()["error"]["code"]) == (502, "upstream_invalid")
    assert call.state == "review"
    assert caller.wallet == {"balance": BALANCE, "held": call.hold_microusd, "debt": 0}


@pytest.mark.parametrize("adapter", ["judgement", "openai"])
def test_an_unknown_charge_is_null(bench: Bench, adapter: str) -> None:
    caller = bench.caller()
    answer = post(caller, ask(model=bench.backend("usage-missing", adapter=adapter)))
    assert answer.json()["usage"] == {"input_tokens": None}
    assert "x-service-charge-microusd" not in answer.headers
    assert caller.only_call.state == "review"


def answers_of(**given: Any) -> dict[str, Any]:
    return {"version": "v1", "answers": {"grounded": {"probabilities": {"true": 0.9, "false": 0.1}}}, **given}


def grounded(**probabilities: Any) -> dict[str, Any]:
    return answers_of(answers={"grounded": {"probabilities": probabilities}})


@pytest.mark.parametrize(
    "says",
    [
        {},
        [],
        answers_of(version=None),
        answers_of(version=""),
        answers_of(version="a b"),
        answers_of(version="v" * 129),
        answers_of(version="v\n"),
        answers_of(version=7),
        answers_of(answers=None),
        answers_of(answers={}),
        answers_of(answers=[]),
        answers_of(answers={"grounded": {}, "other": {}}),
        answers_of(answers={"grounded": None}),
        answers_of(answers={"grounded": {"probabilities": None}}),
        grounded(),
        grounded(true=1.0),
        grounded(true=0.9, false=0.1, maybe=0.0),
        grounded(true=0.9, false=0.12),
        grounded(true=0.9, false=0.08),
        grounded(true=1.5, false=-0.5),
        grounded(true=True, false=False),
        grounded(true="0.9", false="0.1"),
        grounded(true=None, false=1),
        grounded(true=[1], false=0),
        answers_of(error={"message": "no"}),
        answers_of(usage=[812]),
        answers_of(usage=812),
        answers_of(usage={"input_tokens": {}}),
        answers_of(usage={"input_tokens": -1}),
        answers_of(usage={"input_tokens": 2 * 10**9 + 1}),
    ],
)
def test_a_malformed_answer_goes_to_reconciliation(bench: Bench, says: Any) -> None:
    bench.upstream.judges.says = lambda body: says
    caller = bench.caller()
    assert_in_review(caller, post(caller, ask(model=bench.backend())))


@pytest.mark.parametrize(
    "says", [grounded(true=0.995, false=0.015), grounded(true=0.5, false=0.49), grounded(true=1, false=0)]
)
def test_a_sum_within_a_hundredth_is_as_it_came(bench: Bench, says: Any) -> None:
    bench.upstream.judges.says = lambda body: says
    body = post(bench.caller(), ask(model=bench.backend())).json()
    assert body["answers"]["grounded"]["probabilities"] == says["answers"]["grounded"]["probabilities"]


def test_a_tie_is_not_true(bench: Bench) -> None:
    bench.upstream.judges.says = lambda body: grounded(true=0.5, false=0.5)
    assert post(bench.caller(), ask(model=bench.backend())).json()["answers"]["grounded"]["answer"] is False


def test_further_members_of_a_backends_response_are_dropped(bench: Bench) -> None:
    bench.upstream.judges.says = lambda body: answers_of(host="inference-7.upstream.internal", id="x", model="secret")
    body = post(bench.caller(), ask(model=bench.backend())).json()
    assert body.keys() == {"id", "object", "model", "answers", "fallback", "usage", "created"}
    assert "internal" not in str(body)


def test_a_text_model_that_does_not_judge_is_malformed(bench: Bench) -> None:
    bench.upstream.judges.tokenize = lambda text: ["I would say that it is."]
    caller = bench.caller()
    assert_in_review(caller, post(caller, ask(model=bench.backend(adapter="openai"))))
