"""The consequences of an upstream's answer for the charge, the usage record and the client."""

from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from typing import Any

import pytest

from billing.operations import prices
from inference.queries import catalogue
from tests.support.stage import PRICE, Stage, chat
from tests.support.upstream import LEAKS, closed_port, mute_port

BALANCE = 5_000

RELEASED = [
    # upstream's answer, our status, code, param
    ("reject-context-length", 400, "invalid_request", "messages"),
    ("reject-content-policy", 400, "invalid_request", None),
    ("reject-parameter", 400, "invalid_request", "temperature"),
    ("reject-unprocessable", 400, "invalid_request", "seed"),
    ("reject-too-large", 413, "input_too_large", None),
    ("unauthorized", 503, "model_unavailable", None),
    ("forbidden", 503, "model_unavailable", None),
    ("missing-model", 503, "model_unavailable", None),
    ("rate-limited", 503, "upstream_overloaded", None),
    ("overloaded", 503, "upstream_overloaded", None),
    ("bad-gateway", 502, "upstream_error", None),
    ("secret-error", 502, "upstream_error", None),
]

UNKNOWN = [
    ("garbage-json", 502, "upstream_invalid"),
    ("truncated-json", 502, "upstream_invalid"),
    ("json-array", 502, "upstream_invalid"),
    ("empty-body", 502, "upstream_invalid"),
    ("usage-negative", 502, "upstream_invalid"),
    ("usage-fractional", 502, "upstream_invalid"),
    ("usage-huge", 502, "upstream_invalid"),
    ("usage-boolean", 502, "upstream_invalid"),
    ("usage-string", 502, "upstream_invalid"),
    ("cut-before-headers", 502, "upstream_error"),
    ("cut-mid-body", 502, "upstream_error"),
    ("hang-before-headers", 504, "upstream_timeout"),
    ("hang-mid-body", 504, "upstream_timeout"),
]


def assert_leaks_nothing(answer: Any) -> Any:
    visible = answer.text + "".join(f"{name}: {value}" for name, value in answer.headers.items())
    assert not [leak for leak in LEAKS if leak in visible]


@pytest.mark.parametrize(("preset", "status", "code", "param"), RELEASED, ids=[row[0] for row in RELEASED])
def test_a_refusal_releases_the_hold_and_frees_the_key(
    stage: Stage, preset: str, status: Any, code: Any, param: Any
) -> None:
    alias, caller = stage.model(preset, max_output_tokens=20), stage.caller(balance=BALANCE)
    body = chat(alias, temperature=0.5, seed=7)
    answer = caller.post(body, key="again")
    error = answer.json()["error"]
    assert (answer.status_code, error["code"], error["param"]) == (status, code, param)
    assert_leaks_nothing(answer)
    call = caller.only_call
    assert (call.state, call.charge_microusd, call.replayable) == ("released", None, False)
    assert caller.wallet == {"balance": BALANCE, "held": 0, "debt": 0}
    assert not hasattr(call, "usage_record")
    caller.post(body, key="again")
    assert len(caller.calls) == 2


@pytest.mark.parametrize(("preset", "status", "code"), UNKNOWN, ids=[row[0] for row in UNKNOWN])
def test_an_unknown_outcome_keeps_the_hold_and_the_key(stage: Stage, preset: str, status: Any, code: Any) -> None:
    upstream = stage.upstream_row(timeout_seconds=0.4 if code == "upstream_timeout" else 30)
    alias, caller = stage.model(preset, max_output_tokens=20, upstream=upstream), stage.caller(balance=BALANCE)
    answer = caller.post(chat(alias), key="again")
    assert (answer.status_code, answer.json()["error"]["code"]) == (status, code)
    assert_leaks_nothing(answer)
    assert "x-service-charge-microusd" not in answer.headers
    call = caller.only_call
    assert (call.state, call.evidence) == ("review", None)
    assert caller.wallet == {"balance": BALANCE, "held": call.hold_microusd, "debt": 0}
    again = caller.post(chat(alias), key="again")
    assert (again.status_code, again.json()["error"]["code"]) == (409, "idempotency_in_progress")
    assert again.headers["retry-after"] == "1"
    assert len(stage.upstream.ledger) == 1


@pytest.mark.parametrize("preset", ["usage-missing", "usage-null", "usage-partial"])
def test_an_answer_without_usage_reaches_its_client_and_waits_for_its_charge(stage: Stage, preset: str) -> None:
    alias, caller = stage.model(preset, max_output_tokens=20), stage.caller(balance=BALANCE)
    answer = caller.post(chat(alias))
    assert answer.status_code == 200
    assert answer.json()["usage"] is None
    assert "x-service-charge-microusd" not in answer.headers
    call = caller.only_call
    assert answer.headers["x-service-usage-id"] == call.id
    assert (call.state, call.review_reason) == ("review", "usage_missing")
    assert caller.wallet["held"] == call.hold_microusd


def test_a_cost_beyond_the_hold_is_never_billed(stage: Stage) -> None:
    alias, caller = stage.model("usage-over-cap", max_output_tokens=20), stage.caller(balance=BALANCE)
    answer = caller.post(chat(alias))
    call = caller.only_call
    assert answer.status_code == 200
    assert (call.state, call.charge_microusd) == ("settled", call.hold_microusd)
    assert call.overrun_microusd > 0
    assert answer.headers["x-service-charge-microusd"] == str(call.hold_microusd)
    assert caller.wallet == {"balance": BALANCE - call.hold_microusd, "held": 0, "debt": 0}


def test_cached_tokens_are_charged_at_their_own_price(stage: Stage) -> None:
    alias, caller = stage.model("small-1?cached_tokens=3", max_output_tokens=20), stage.caller(balance=BALANCE)
    answer = caller.post(chat(alias))
    usage = answer.json()["usage"]
    plain = usage["prompt_tokens"] - 3
    pico = plain * 150_000 + 3 * 75_000 + usage["completion_tokens"] * 600_000
    assert caller.only_call.charge_microusd == -(-pico // 10**6)
    assert caller.only_call.usage_record.cached_input_tokens == 3


def test_an_error_of_an_upstream_that_bills_errors_goes_to_review(stage: Stage) -> None:
    upstream = stage.upstream_row(bills_errors=True)
    alias, caller = stage.model("secret-error", upstream=upstream, max_output_tokens=20), stage.caller()
    answer = caller.post(chat(alias))
    assert (answer.status_code, answer.json()["error"]["code"]) == (502, "upstream_error")
    assert caller.only_call.state == "review"


@pytest.mark.parametrize("base_url", ["http://127.0.0.1:{closed}/v1", "http://nobody.invalid/v1"])
def test_an_unreachable_upstream_costs_nothing(stage: Stage, base_url: Any) -> None:
    upstream = stage.upstream_row(base_url=base_url.format(closed=closed_port()))
    alias, caller = stage.model(upstream=upstream, max_output_tokens=20), stage.caller(balance=BALANCE)
    answer = caller.post(chat(alias))
    assert (answer.status_code, answer.json()["error"]["code"]) == (502, "upstream_error")
    assert "nobody.invalid" not in answer.text
    assert caller.only_call.state == "released"
    assert caller.wallet == {"balance": BALANCE, "held": 0, "debt": 0}


def test_an_upstream_that_accepts_the_call_and_never_answers_leaves_it_to_review(stage: Stage) -> None:
    with mute_port() as port:
        upstream = stage.upstream_row(base_url=f"http://127.0.0.1:{port}/v1", timeout_seconds=0.4)
        alias, caller = stage.model(upstream=upstream, max_output_tokens=20), stage.caller()
        answer = caller.post(chat(alias))
    assert (answer.status_code, answer.json()["error"]["code"]) == (504, "upstream_timeout")
    assert caller.only_call.state == "review"


def test_a_price_without_tokens_needs_no_usage(stage: Stage) -> None:
    alias = stage.model("usage-missing", price={"request": "25"}, max_output_tokens=20)
    caller = stage.caller(balance=BALANCE)
    answer = caller.post(chat(alias))
    assert answer.headers["x-service-charge-microusd"] == "25"
    assert caller.wallet == {"balance": BALANCE - 25, "held": 0, "debt": 0}


def test_the_price_of_the_hold_is_the_price_of_the_charge(stage: Stage) -> None:
    alias, caller = stage.model("small-1?delay_ms=300", max_output_tokens=20), stage.caller(balance=BALANCE)
    with ThreadPoolExecutor() as threads:
        pending = threads.submit(caller.post, chat(alias))
        while not stage.upstream.ledger.entries:
            pass
        prices.publish(alias, {**PRICE, "output_token": "60"}, now=datetime.now(UTC))
        catalogue.forget()
        answer = pending.result()
    usage = answer.json()["usage"]
    pico = usage["prompt_tokens"] * 150_000 + usage["completion_tokens"] * 600_000
    assert caller.only_call.charge_microusd == -(-pico // 10**6)
