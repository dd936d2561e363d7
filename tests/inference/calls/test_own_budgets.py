"""Calls against a person's own budgets: refused in every app that they count, exactly, and in no other."""

from collections import Counter
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import replace

import httpx
import pytest

from billing.models import Budget
from billing.operations import own_budgets
from billing.rules.budgets import BudgetPeriod
from tests.factories.proofs import mint_token
from tests.support.concurrency import PATIENCE_SECONDS, eventually
from tests.support.stage import Caller, Stage, ask, chat

APP = "https://app.example"
OTHER = "https://other.example"
AT_ONCE = 50
ADMITTED = 10


def in_app(caller: Caller, client_id: str) -> Caller:
    """Return the same person in another app."""
    return replace(caller, token=mint_token(caller.did, ("infer:*",), caller.signer, client_id=client_id))


def put(caller: Caller, limit: int, app: str | None = APP, period: BudgetPeriod = BudgetPeriod.MONTH) -> Budget:
    return own_budgets.put(did=caller.did, client_id=app, limit_microusd=limit, period=period)


def refused_by(answer: httpx.Response) -> str | None:
    """Return the budget that refused the call, or None for an answer."""
    if answer.status_code == 200:
        return None
    error = answer.json()["error"]
    assert (answer.status_code, error["code"], error["type"]) == (402, "budget_exceeded", "billing_error")
    assert list(error["details"]) == ["budgetId"]
    return str(error["details"]["budgetId"])


@pytest.mark.parametrize("period", list(BudgetPeriod))
def test_an_apps_budget_refuses_its_calls_alone(stage: Stage, period: BudgetPeriod) -> None:
    caller, alias = stage.caller(client_id=APP), stage.model(max_output_tokens=50)
    budget = put(caller, 1, period=period)
    assert refused_by(caller.post(chat(alias))) == budget.id
    assert refused_by(caller.post(ask(alias), path="/v1/responses")) == budget.id
    assert caller.calls == []
    assert refused_by(in_app(caller, OTHER).post(chat(alias))) is None
    assert refused_by(stage.caller(client_id=APP).post(chat(alias))) is None


def test_the_total_refuses_every_apps_and_a_product_servers_calls(stage: Stage) -> None:
    caller, alias = stage.caller(client_id=APP), stage.model(max_output_tokens=50)
    budget = put(caller, 1, app=None)
    server = replace(caller, token=mint_token(caller.did, ("infer:*",), caller.signer, product="studio"))
    assert {refused_by(one.post(chat(alias))) for one in (caller, in_app(caller, OTHER), server)} == {budget.id}


def test_an_apps_budget_leaves_a_product_servers_calls_alone(stage: Stage) -> None:
    caller, alias = stage.caller(product="studio"), stage.model(max_output_tokens=50)
    put(caller, 1)
    assert refused_by(caller.post(chat(alias))) is None


def test_what_is_set_between_two_calls_counts_the_first(stage: Stage) -> None:
    caller, alias = stage.caller(client_id=APP), stage.model(max_output_tokens=50)
    first = caller.post(chat(alias))
    eventually(lambda: caller.only_call.state == "settled")
    charge = int(first.headers["x-service-charge-microusd"])
    budget = put(caller, int(first.headers["x-service-hold-microusd"]))
    assert (budget.spent_microusd, budget.held_microusd) == (charge, 0)
    assert refused_by(caller.post(chat(alias))) == budget.id


def test_fifty_calls_at_once_hold_exactly_what_the_app_may_spend(stage: Stage) -> None:
    caller, alias = stage.caller(client_id=APP), stage.model(max_output_tokens=50)
    first = caller.post(chat(alias))
    eventually(lambda: caller.only_call.state == "settled")
    hold = int(first.headers["x-service-hold-microusd"])
    charge = int(first.headers["x-service-charge-microusd"])
    budget = put(caller, charge + ADMITTED * hold + hold - 1)
    with ThreadPoolExecutor(AT_ONCE) as threads, stage.upstream.holding():
        asked = [threads.submit(caller.post, chat(alias)) for _ in range(AT_ONCE)]
        for _, one in zip(range(AT_ONCE - ADMITTED), as_completed(asked, PATIENCE_SECONDS), strict=False):
            assert refused_by(one.result()) == budget.id
        budget.refresh_from_db()
        assert (budget.spent_microusd, budget.held_microusd) == (charge, ADMITTED * hold)
        stage.upstream.release()
        outcomes = Counter(refused_by(one.result()) for one in asked)
    assert outcomes == {None: ADMITTED, budget.id: AT_ONCE - ADMITTED}
    eventually(lambda: all(call.state == "settled" for call in caller.calls))
    budget.refresh_from_db()
    assert (budget.spent_microusd, budget.held_microusd) == (charge * (ADMITTED + 1), 0)
