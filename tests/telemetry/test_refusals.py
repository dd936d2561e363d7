"""A request that is refused before its hold gives an observation, too, with the code that its client got as the cause."""

from collections.abc import Callable
from typing import Any

import pytest

from gateway.core.telemetry.observation import Step
from tests.support.observed import Observed
from tests.support.stage import CHAT, Caller, Stage, chat

AUTHENTICATED, RECEIVED, CHECKED = Step.AUTHENTICATED, Step.RECEIVED, Step.CHECKED
TRACEPARENT = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"

Send = Callable[[Caller, str], Any]

REFUSALS: list[tuple[str, Send, int, str, list[Step]]] = [
    ("body", lambda caller, alias: caller.post(None, content=b"{"), 400, "invalid_json", [AUTHENTICATED]),
    (
        "model",
        lambda caller, alias: caller.post(chat("nobody")),
        404,
        "model_not_found",
        [AUTHENTICATED, RECEIVED],
    ),
    (
        "key",
        lambda caller, alias: caller.post(chat(alias), key=None),
        400,
        "idempotency_key_required",
        [AUTHENTICATED, RECEIVED],
    ),
    (
        "member",
        lambda caller, alias: caller.post(chat(alias, n=-1)),
        400,
        "invalid_request",
        [AUTHENTICATED, RECEIVED],
    ),
    (
        "maximum",
        lambda caller, alias: caller.post(chat(alias), max_cost=1),
        402,
        "max_cost_exceeded",
        [AUTHENTICATED, RECEIVED],
    ),
    (
        "funds",
        lambda caller, alias: caller.post(chat(alias)),
        402,
        "insufficient_funds",
        [AUTHENTICATED, RECEIVED, CHECKED],
    ),
]


@pytest.mark.parametrize(
    ("send", "status", "code", "steps"), [row[1:] for row in REFUSALS], ids=[row[0] for row in REFUSALS]
)
def test_a_refusal(stage: Stage, observed: Observed, send: Send, status: int, code: str, steps: list[Step]) -> None:
    alias, caller = stage.model(max_output_tokens=20), stage.caller(balance=0)
    answer = send(caller, alias)
    assert (answer.status_code, answer.json()["error"]["code"]) == (status, code)
    seen = observed.only(caller.did)
    assert (seen.outcome, seen.cause, seen.status, seen.code) == ("refused", code, status, code)
    assert [mark.name for mark in seen.marks] == [*steps, Step.ANSWERED]
    assert seen.request_id == answer.headers["x-request-id"]
    assert (seen.usage_id, seen.hold_microusd, seen.attempts) == ("", None, [])
    assert seen.model == ("" if code in ("invalid_json", "model_not_found") else alias)
    assert caller.calls == []


def test_a_token_that_is_none(stage: Stage, observed: Observed) -> None:
    alias, caller = stage.model(), stage.caller()
    answer = caller.post(chat(alias), headers={"Authorization": "DPoP x.y.z", "traceparent": TRACEPARENT})
    [seen] = observed.by("")
    assert (seen.outcome, seen.cause, seen.status, seen.route) == ("refused", "invalid_token", 401, "chat.completions")
    assert (seen.model, seen.client_id, seen.credential) == ("", "", "")
    assert (seen.traceparent, seen.request_id) == (TRACEPARENT, answer.headers["x-request-id"])


def test_a_used_proof_and_a_foreign_trace(stage: Stage, observed: Observed) -> None:
    alias, caller = stage.model(max_output_tokens=20), stage.caller()
    headers = {**caller.headers(CHAT), "traceparent": "secret"}
    first, second = (caller.post(chat(alias), headers=headers) for _ in range(2))
    assert (first.status_code, second.status_code) == (200, 401)
    _, seen = observed.by(caller.did, 2)
    assert (seen.outcome, seen.cause, seen.traceparent) == ("refused", "invalid_dpop_proof", "")


def test_the_same_key_for_another_body(stage: Stage, observed: Observed) -> None:
    alias, caller = stage.model(max_output_tokens=20), stage.caller()
    for number in (1, 2):
        caller.post(chat(alias, seed=number), key="same")
    _, seen = observed.by(caller.did, 2)
    assert (seen.outcome, seen.cause) == ("refused", "idempotency_key_reused")
