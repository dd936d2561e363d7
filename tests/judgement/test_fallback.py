"""Fallback: only after an explicit overload, if caller and operator allow it, within one hold."""

import uuid
from io import StringIO
from typing import Any

import pytest
from django.core.management import call_command

from billing.models import PriceVersion, Takeover
from billing.queries.call_money import of_call
from tests.judgement.bench import BALANCE, Bench, ask, post
from tests.judgement.judges import VERSION
from tests.support.concurrency import eventually
from tests.support.observed import Observed

DEARER = {"input_token": "2"}
CHEAP, EXPENSIVE = 406, 1624  # 812 tokens at half a micro-USD, and at two


def pair(bench: Bench, first: str = "overloaded", second: str = "judge-2", **fields: Any) -> tuple[str, str]:
    source, target = bench.backend(first), bench.backend(second, **{"price": DEARER, **fields})
    bench.fall_back(source, target)
    return source, target


def fall(bench: Bench, source: str, **options: Any) -> tuple[Any, Any]:
    caller = bench.caller()
    return caller, post(caller, ask(model=source, allow_fallback=True), **options)


def assert_released(
    bench: Bench, caller: Any, answer: Any, sent_to: list[str], code: str = "upstream_overloaded"
) -> None:
    assert answer.json()["error"]["code"] == code, answer.text
    assert caller.only_call.state == "released"
    assert caller.wallet == {"balance": BALANCE, "held": 0, "debt": 0}
    assert sorted({entry.model for entry in bench.upstream.ledger.entries}) == sent_to
    assert not Takeover.objects.filter(call_id=caller.only_call.id).exists()


def assert_the_ledger_is_intact() -> None:
    """Audit the ledger, which fails if a call's charge does not match its price."""
    call_command("audit_ledger", stdout=StringIO())


@pytest.mark.parametrize("status", [429, 503])
def test_an_explicit_overload_leads_to_the_fallback_at_its_own_price(bench: Bench, status: int) -> None:
    source, target = pair(bench, f"small?status={status}&error_code=overloaded")
    caller, answer = fall(bench, source)
    body = answer.json()
    assert body["model"] == f"{target}/{VERSION}"
    assert body["fallback"] == {"from": source, "to": target, "reason": "overloaded"}
    assert answer.headers["x-service-charge-microusd"] == str(EXPENSIVE)
    assert caller.wallet == {"balance": BALANCE - EXPENSIVE, "held": 0, "debt": 0}
    takeover = Takeover.objects.get(call_id=caller.only_call.id)
    assert (takeover.model, takeover.price_version.alias) == (target, target)
    assert_the_ledger_is_intact()


def test_the_hold_covers_the_more_expensive_of_both(bench: Bench) -> None:
    source, target = pair(bench, "judge-1")
    other, caller = bench.caller(), bench.caller()
    highest_hold = post(other, ask(model=target)).headers["x-service-hold-microusd"]
    answer = post(caller, ask(model=source, allow_fallback=True))
    assert answer.headers["x-service-hold-microusd"] == highest_hold
    assert (answer.json()["fallback"], caller.only_call.charge_microusd) == (None, CHEAP)
    refused = post(caller, ask(model=source, allow_fallback=True), max_cost=int(highest_hold) - 1)
    assert refused.json()["error"]["details"] == {"requiredMicrousd": int(highest_hold)}
    assert post(caller, ask(model=source), max_cost=int(highest_hold) - 1).status_code == 200


@pytest.mark.parametrize(
    ("price", "allows_fallback", "is_fallbacks"), [("2", True, True), ("0.25", True, False), ("2", False, False)]
)
def test_the_parts_of_a_hold_come_to_it(
    bench: Bench, observed: Observed, price: str, allows_fallback: bool, is_fallbacks: bool
) -> None:
    """The hold is explained by the prices of the more expensive of both, whichever answers."""
    source, target = pair(bench, "judge-1", price={"input_token": price})
    caller = bench.caller()
    assert post(caller, ask(model=source, allow_fallback=allows_fallback)).status_code == 200
    call = caller.only_call
    money = of_call(call, observed.only(caller.did).hold_inputs)
    assert money.held_at.alias == (target if is_fallbacks else source)
    [part] = money.held
    assert part.name == "input_token"
    assert -(-part.amount // 10**6) == call.hold_microusd > 0


def test_a_cheaper_fallback_is_charged_as_such(bench: Bench) -> None:
    source, _ = pair(bench, price={"input_token": "0.25"})
    caller, answer = fall(bench, source)
    assert answer.headers["x-service-charge-microusd"] == "203"
    assert caller.wallet == {"balance": BALANCE - 203, "held": 0, "debt": 0}
    assert_the_ledger_is_intact()


def test_a_fallback_is_replayed_as_it_was(bench: Bench) -> None:
    source, _ = pair(bench)
    caller = bench.caller()
    first, again = (post(caller, ask(model=source, allow_fallback=True), key="same") for _ in range(2))
    assert (again.content, again.headers["idempotent-replayed"]) == (first.content, "true")
    assert caller.wallet["balance"] == BALANCE - EXPENSIVE


@pytest.mark.parametrize(
    "first",
    [
        "small?status=429",
        "rate-limited",
        "small?status=429&error_code=server_overloaded",
        "small?status=503&error_message=overloaded&retry_after_seconds=1",
        "small?status=503&retry_after_seconds=1",
    ],
)
def test_only_the_code_overloaded_is_an_explicit_overload(bench: Bench, first: str) -> None:
    source, _ = pair(bench, first)
    caller, answer = fall(bench, source)
    assert_released(bench, caller, answer, [first])


@pytest.mark.parametrize(
    ("first", "code", "state"),
    [
        ("unavailable", "upstream_error", "released"),
        ("bad-gateway", "upstream_error", "released"),
        ("unauthorized", "model_unavailable", "released"),
        ("reject-parameter", "invalid_request", "released"),
        ("garbage-json", "upstream_invalid", "review"),
        ("cut-mid-body", "upstream_error", "review"),
        ("hang-before-headers", "upstream_timeout", "review"),
    ],
)
def test_nothing_else_leads_to_it(bench: Bench, first: str, code: str, state: str) -> None:
    source = bench.backend(first, timeout_seconds=0.5 if "hang" in first else 30)
    bench.fall_back(source, bench.backend("judge-2", price=DEARER))
    caller, answer = fall(bench, source)
    assert (answer.json()["error"]["code"], caller.only_call.state) == (code, state)
    eventually(lambda: bench.upstream.ledger.entries)  # one that does not answer may read after the gateway's timeout
    assert {entry.model for entry in bench.upstream.ledger.entries} == {first}


def test_without_the_callers_leave_there_is_none(bench: Bench) -> None:
    source, _ = pair(bench)
    for members in ({}, {"allow_fallback": False}, {"allow_fallback": None}):
        caller = bench.caller()
        assert_released(bench, caller, post(caller, ask(model=source, **members)), ["overloaded"])


def test_without_the_operators_word_there_is_none(bench: Bench) -> None:
    bench.backend("judge-2")
    caller, answer = fall(bench, bench.backend("overloaded"))
    assert_released(bench, caller, answer, ["overloaded"])


@pytest.mark.parametrize(
    "fields", [{"enabled": False}, {"price": None}, {"options": {"routes": ["embeddings"]}}, {"deploy": False}]
)
def test_a_fallback_that_cannot_be_called_is_none(bench: Bench, fields: dict[str, Any]) -> None:
    source, _ = pair(bench, **fields)
    caller, answer = fall(bench, source)
    assert_released(bench, caller, answer, ["overloaded"])


def test_a_fallback_does_not_fall_back(bench: Bench) -> None:
    source, target = pair(bench, second="small?status=429&error_code=overloaded")
    bench.fall_back(target, bench.backend("judge-3"))
    caller, answer = fall(bench, source)
    assert_released(bench, caller, answer, ["overloaded", "small?status=429&error_code=overloaded"])


def test_a_fallback_that_fails_is_the_end_of_it(bench: Bench) -> None:
    source, target = pair(bench, second="garbage-json")
    caller, answer = fall(bench, source)
    assert answer.json()["error"]["code"] == "upstream_invalid"
    call = caller.only_call
    assert (call.state, call.hold_microusd) == ("review", caller.wallet["held"])
    assert Takeover.objects.get(call_id=call.id).model == target
    assert_the_ledger_is_intact()


def test_the_deadline_covers_both(bench: Bench) -> None:
    source = bench.backend("overloaded", timeout_seconds=20)
    bench.fall_back(source, bench.backend("judge-2", timeout_seconds=100))
    caller, _ = fall(bench, source)
    call = caller.only_call
    # Ten seconds of retries, thirty to connect at each backend, the time that both may take, and half a minute to settle.
    assert (call.deadline_at - call.created_at).total_seconds() == pytest.approx(40 + 20 + 40 + 100 + 30, abs=5)


def test_a_closing_that_a_dead_process_has_noted_books_the_takeover(bench: Bench) -> None:
    from billing.operations import closings

    target = bench.backend("judge-2", price=DEARER)
    caller = bench.caller()
    post(caller, ask(model=bench.backend("hang-before-headers", timeout_seconds=0.3)))
    eventually(lambda: bench.upstream.ledger.entries)  # or it may be in the ledger of the next test
    call = caller.only_call
    version = PriceVersion.objects.get(alias=target)
    by = closings.TakeoverTerms(target, version.id)
    reference = closings.OpenCall(("account", caller.did), call.id, None, by)
    closing = closings.settle(reference, cost_microusd=200, basis="upstream", quantities={"input_tokens": 100})
    assert closings.from_note(closing.note).run() == "settled"
    assert Takeover.objects.get(call_id=call.id).model == target
    assert caller.wallet == {"balance": BALANCE - 200, "held": 0, "debt": 0}
    assert_the_ledger_is_intact()


def test_the_console_shows_whose_price_was_charged(bench: Bench) -> None:
    from tests.gateway.operators import address, clerk

    source, target = pair(bench)
    caller, _ = fall(bench, source)
    viewer = clerk("view_call", name=uuid.uuid4().hex)
    page = viewer.get(address("billing_call_change", caller.only_call.id)).text
    assert f"input_token 2, of {target}, which answered instead" in page


def test_a_text_model_takes_over_and_is_taken_over_from(bench: Bench) -> None:
    there = bench.backend(adapter="openai", price=DEARER)
    source = bench.backend("overloaded")
    bench.fall_back(source, there)
    _, answer = fall(bench, source)
    assert answer.json()["model"] == f"{there}/small-1-2026-08-01"
    back = bench.backend("overloaded", adapter="openai")
    bench.fall_back(back, bench.backend("judge-2"))
    _, answer = fall(bench, back)
    assert answer.json()["fallback"]["from"] == back


def test_allow_fallback_is_true_or_false(bench: Bench) -> None:
    caller = bench.caller()
    refused = post(caller, ask(model=bench.backend(), allow_fallback="yes")).json()["error"]
    assert (refused["code"], refused["param"]) == ("invalid_request", "allow_fallback")
    assert caller.calls == []


def test_a_takeovers_record_cannot_be_changed(bench: Bench) -> None:
    from django.db import IntegrityError

    source, _ = pair(bench)
    caller, _ = fall(bench, source)
    takeover = Takeover.objects.filter(call_id=caller.only_call.id)
    with pytest.raises(IntegrityError, match="never changed"):
        takeover.update(model=source)
    with pytest.raises(IntegrityError, match="never changed"):
        takeover.delete()
