"""POST /v1/judgement: typed answers with probabilities, the backend's identity, and exact money."""

import inspect
import time
from typing import Any

import pytest

from inference.metering.serving import MeteredViewSet
from judgement.route.route import JudgementViewSet
from tests.judgement.bench import ANSWERS, BALANCE, JUDGEMENT, QUESTIONS, TONE, Bench, ask, post
from tests.judgement.judges import INPUT_TOKENS, VERSION
from tests.judgement.tokenizers import TOKENIZERS

CHARGE = 406  # 812 tokens at half a micro-USD


def assert_settled(caller: Any, charge: int = CHARGE) -> None:
    call = caller.only_call
    assert (call.state, call.charge_microusd) == ("settled", charge)
    assert caller.wallet == {"balance": BALANCE - charge, "held": 0, "debt": 0}


def assert_refused(bench: Bench, caller: Any, answer: Any, status: int, code: str, param: str | None = None) -> None:
    error = answer.json()["error"]
    assert (answer.status_code, error["code"]) == (status, code), answer.text
    assert param is None or error["param"] == param
    assert caller.calls == []
    assert len(bench.upstream.ledger) == 0


def test_the_route_is_one_of_the_core() -> None:
    assert JudgementViewSet.serve is MeteredViewSet.serve
    *_, last = inspect.getsource(JudgementViewSet.create).strip().splitlines()
    assert last.strip() == "return await self.serve(request)"


def test_every_kind_of_question_is_answered(bench: Bench) -> None:
    backend, caller = bench.backend(), bench.caller()
    answer = post(caller, ask(model=backend, questions=QUESTIONS))
    body = answer.json()
    assert answer.status_code == 200
    assert body.pop("id").startswith("jdg_")
    assert abs(body.pop("created") - time.time()) < 60
    assert body == {
        "object": "judgement",
        "model": f"{backend}/{VERSION}",
        "answers": ANSWERS,
        "fallback": None,
        "usage": {"input_tokens": INPUT_TOKENS},
    }
    assert answer.headers["x-service-charge-microusd"] == str(CHARGE)
    assert_settled(caller)
    [entry] = bench.upstream.ledger
    assert entry.body == {"model": "judge-1", "state": ask()["state"], "questions": QUESTIONS}
    assert entry.caller_key == caller.only_call.id


@pytest.mark.parametrize("tokenizer", TOKENIZERS)
def test_a_text_model_judges_by_the_log_probabilities_of_its_label_tokens(bench: Bench, tokenizer: str) -> None:
    bench.upstream.judges.tokenize = TOKENIZERS[tokenizer]
    backend, caller = bench.backend(adapter="openai"), bench.caller()
    body = post(caller, ask(model=backend, questions=QUESTIONS)).json()
    assert body["model"] == f"{backend}/small-1-2026-08-01"
    assert body["usage"] == {"input_tokens": INPUT_TOKENS}
    for name, expected in ANSWERS.items():
        found = body["answers"][name]
        assert found["answer"] == pytest.approx(expected["answer"])
        assert found["probabilities"] == pytest.approx(expected["probabilities"])
    assert_settled(caller)
    [entry] = bench.upstream.ledger
    sent = {name: entry.body[name] for name in ("logprobs", "top_logprobs", "temperature", "max_completion_tokens")}
    assert sent == {"logprobs": True, "top_logprobs": 20, "temperature": 0, "max_completion_tokens": 48}


def test_output_tokens_of_a_text_model_are_held_and_charged_if_they_have_a_price(bench: Bench) -> None:
    backend = bench.backend(adapter="openai", price={"input_token": "0.5", "output_token": "2"})
    caller = bench.caller()
    post(caller, ask(model=backend))
    assert_settled(caller, CHARGE + 14)


def test_a_state_may_be_a_map(bench: Bench) -> None:
    backend, caller = bench.backend(), bench.caller()
    state = {"source": "It opens at nine.", "answer": "At 9 a.m., naïvely"}
    assert post(caller, ask(model=backend, state=state)).status_code == 200
    assert bench.upstream.ledger.entries[0].body["state"] == state


def test_probabilities_are_given_as_they_came(bench: Bench) -> None:
    given = {"very calm": 0.3333, "very angry": 0.6668}
    bench.upstream.judges.says = lambda body: {"version": "v1", "answers": {"q": {"probabilities": given}}}
    body = post(bench.caller(), ask(model=bench.backend(), questions={"q": TONE})).json()
    assert body["answers"]["q"] == {"type": "choice", "answer": "very angry", "probabilities": given}


def test_without_a_model_the_default_text_backend_answers(bench: Bench) -> None:
    backend, caller = bench.backend(), bench.caller()
    bench.choose(text=backend)
    for members in ({}, {"model": None}, {"model": "judgement"}):
        assert post(caller, ask(**members)).json()["model"] == f"{backend}/{VERSION}"
    assert {call.model for call in caller.calls} == {backend}


def test_an_alias_without_a_chosen_backend_is_unavailable(bench: Bench) -> None:
    bench.backend()
    for model in (None, "judgement", "judgement-vision"):
        caller = bench.caller()
        assert_refused(bench, caller, post(caller, ask(model=model)), 503, "model_unavailable")
    caller = bench.caller()
    assert_refused(bench, caller, post(caller, ask(model="judgement-backend-c")), 503, "model_unavailable")
    assert_refused(bench, caller, post(caller, ask(model="nobody")), 404, "model_not_found", "model")


def test_an_alias_that_judges_nothing_is_refused(bench: Bench) -> None:
    caller, alias = bench.caller(), bench.stage.model()
    assert_refused(bench, caller, post(caller, ask(model=alias)), 400, "invalid_request", "model")


def test_the_aliases_are_listed_once_they_stand_for_a_backend(bench: Bench) -> None:
    backend, caller = bench.backend(), bench.caller()
    bench.choose(text=backend)
    models = {model["id"]: model for model in caller.get("/v1/models").json()["data"]}
    assert "judgement-vision" not in models
    assert models["judgement"] == {**models[backend], "id": "judgement"}
    assert models["judgement"]["routes"] == ["judgement"]
    assert models["judgement"]["pricing"] == {"input_token": "0.5"}
    assert models["judgement"]["authorized"] is True
    assert caller.get("/v1/models/judgement").json() == models["judgement"]
    assert caller.get("/v1/models/judgement-vision").status_code == 404
    assert bench.caller(scopes=("infer:*",)).get("/v1/models/judgement").json()["authorized"] is False


def test_the_scope_is_only_judgement_evaluate(bench: Bench) -> None:
    backend = bench.backend()
    assert post(bench.caller(scopes=("judgement:evaluate",)), ask(model=backend)).status_code == 200
    bench.upstream.reset()
    caller = bench.caller(scopes=(f"infer:{backend}", "infer:*"))
    assert_refused(bench, caller, post(caller, ask(model=backend)), 403, "insufficient_scope")


def test_without_a_key_every_request_is_a_call(bench: Bench) -> None:
    backend, caller = bench.backend(), bench.caller()
    first, second = (post(caller, ask(model=backend)) for _ in range(2))
    assert first.json()["id"] != second.json()["id"]
    assert "idempotent-replayed" not in second.headers
    assert caller.wallet == {"balance": BALANCE - 2 * CHARGE, "held": 0, "debt": 0}


def test_with_a_key_the_settled_answer_is_given_again(bench: Bench) -> None:
    backend, caller = bench.backend(), bench.caller()
    first, again = (post(caller, ask(model=backend), key="same") for _ in range(2))
    assert (again.content, again.headers["idempotent-replayed"]) == (first.content, "true")
    assert_settled(caller)
    reused = post(caller, ask(model=backend, state="Another state."), key="same")
    assert (reused.status_code, reused.json()["error"]["code"]) == (422, "idempotency_key_reused")
    assert len(bench.upstream.ledger) == 1


def test_a_maximum_is_required_and_enforced(bench: Bench) -> None:
    backend, caller = bench.backend(), bench.caller()
    assert_refused(bench, caller, post(caller, ask(model=backend), max_cost=None), 400, "max_cost_required")
    answer = post(caller, ask(model=backend), max_cost=1)
    assert_refused(bench, caller, answer, 402, "max_cost_exceeded")
    needed = answer.json()["error"]["details"]["requiredMicrousd"]
    assert_refused(bench, caller, post(caller, ask(model=backend), max_cost=needed - 1), 402, "max_cost_exceeded")
    assert post(caller, ask(model=backend), max_cost=needed).headers["x-service-hold-microusd"] == str(needed)


def test_it_needs_money_a_price_and_a_proof(bench: Bench) -> None:
    backend, poor, caller = bench.backend(), bench.caller(balance=0), bench.caller()
    assert_refused(bench, poor, post(poor, ask(model=backend)), 402, "insufficient_funds")
    unsold = bench.backend(price={"output_token": "1"})
    assert_refused(bench, caller, post(caller, ask(model=unsold)), 503, "model_unavailable")
    answer = post(caller, ask(model=backend), headers={"DPoP": None})
    assert_refused(bench, caller, answer, 401, "invalid_dpop_proof")


def test_the_published_default_price_is_exact(bench: Bench) -> None:
    backend, caller = bench.backend(price={"input_token": "0.042"}), bench.caller()
    assert post(caller, ask(model=backend)).headers["x-service-charge-microusd"] == "35"  # 34.104, rounded up
    assert_settled(caller, 35)


def test_a_flat_price_needs_no_token_count(bench: Bench) -> None:
    backend, caller = bench.backend("usage-missing", price={"request": "40"}), bench.caller()
    assert post(caller, ask(model=backend)).json()["usage"] == {"input_tokens": None}
    assert_settled(caller, 40)


def test_a_hold_covers_a_backend_that_reads_the_state_for_every_question(bench: Bench) -> None:
    state, questions = "x" * 8000, {f"q{index}": {"type": "noul", "instructions": "?"} for index in range(32)}
    bench.upstream.judges.says = lambda body: {
        "version": "v1",
        "answers": {name: {"probabilities": {"true": 1, "false": 0}} for name in questions},
        "usage": {"input_tokens": 32 * 8192},
    }
    backend, caller = bench.backend(), bench.caller()
    answer = post(caller, ask(model=backend, state=state, questions=questions), max_cost=200_000)
    assert answer.headers["x-service-charge-microusd"] == str(32 * 8192 // 2)
    assert_settled(caller, 32 * 8192 // 2)
    assert caller.only_call.overrun_microusd == 0


def test_a_hold_covers_the_escapes_that_a_prompt_needs(bench: Bench) -> None:
    backend, caller = bench.backend(adapter="openai"), bench.caller()
    answer = post(caller, ask(model=backend, state='\n"\x01' * 2000))
    prompt = sum(len(message["content"].encode()) for message in bench.upstream.ledger.entries[0].body["messages"])
    assert prompt > 20_000
    assert int(answer.headers["x-service-hold-microusd"]) > prompt // 2


def test_a_call_under_way_holds_its_key(bench: Bench) -> None:
    backend, caller = bench.backend("usage-missing"), bench.caller()
    first = post(caller, ask(model=backend), key="same")
    assert (first.status_code, first.json()["usage"]) == (200, {"input_tokens": None})
    assert "x-service-charge-microusd" not in first.headers
    assert caller.only_call.state == "review"
    again = post(caller, ask(model=backend), key="same")
    assert (again.status_code, again.json()["error"]["code"]) == (409, "idempotency_in_progress")


def test_the_usage_record_names_route_and_backend(bench: Bench) -> None:
    backend, caller = bench.backend(), bench.caller()
    bench.choose(text=backend)
    post(caller, ask(), key="mine")
    [record] = caller.get("/v1/usage").json()["data"]
    shown = {
        name: record[name] for name in ("route", "model", "status", "inputTokens", "chargedMicrousd", "idempotencyKey")
    }
    assert shown == {
        "route": "judgement",
        "model": backend,
        "status": "settled",
        "inputTokens": INPUT_TOKENS,
        "chargedMicrousd": CHARGE,
        "idempotencyKey": "mine",
    }


def test_only_post_is_a_method(bench: Bench) -> None:
    answer = bench.caller().get(JUDGEMENT)
    assert (answer.status_code, answer.json()["error"]["code"], answer.headers["allow"]) == (
        405,
        "method_not_allowed",
        "POST",
    )
