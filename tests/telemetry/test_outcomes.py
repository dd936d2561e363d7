"""Each request gives one observation, which says how it ended and why, when it reached which step, and what was tried."""

from itertools import pairwise
from typing import Any

import pytest

from gateway.core.telemetry.observation import Observation, Outcome, Step
from gateway.core.telemetry.rules.spans import span_of_request
from tests.inference.calls.test_disconnects import connect, raw_request
from tests.support.concurrency import eventually
from tests.support.observed import Observed
from tests.support.stage import Caller, Stage, chat
from tests.support.upstream import closed_port

COUNT = "/v1/messages/count_tokens"
CHECKS = [Step.AUTHENTICATED, Step.RECEIVED, Step.CHECKED]
HELD = [*CHECKS, Step.HELD, Step.SENT]
WHOLE = [*HELD, Step.FIRST_BYTE, Step.UPSTREAM_DONE, Step.SETTLED, Step.ANSWERED]
WITHOUT = [*HELD, Step.UPSTREAM_DONE, Step.SETTLED, Step.ANSWERED]

FAILURES = [
    # upstream's answer, outcome, cause, upstream's status
    ("reject-parameter", "released", "upstream_400", 400),
    ("reject-unprocessable", "released", "upstream_422", 422),
    ("reject-too-large", "released", "upstream_413", 413),
    ("unauthorized", "released", "upstream_401", 401),
    ("forbidden", "released", "upstream_403", 403),
    ("missing-model", "released", "upstream_404", 404),
    ("bad-gateway", "released", "upstream_5xx", 502),
    ("small-1?status=302", "released", "upstream_3xx", 302),
    ("small-1?status=402", "released", "upstream_402", 402),
    ("garbage-json", "review", "bad_answer", 200),
    ("usage-negative", "review", "bad_usage", 200),
    ("cut-before-headers", "review", "connection", None),
    ("cut-mid-body", "review", "connection", 200),
    ("hang-before-headers", "review", "timeout_first_byte", None),
    ("hang-mid-body", "review", "timeout_first_byte", 200),
]

STREAMS = [
    ("error-event", "review", "broken_off", "upstream_error"),
    ("cut-mid-stream", "review", "connection", "upstream_error"),
    ("usage-negative", "review", "bad_usage", "upstream_invalid"),
]


def steps(observation: Observation) -> list[str]:
    """Return the names of the marks, whose times must not decrease."""
    times = [observation.began_ns, *(mark.ns for mark in observation.marks), observation.ended_ns or 0]
    assert all(before <= after for before, after in pairwise(times)), observation.marks
    return [mark.name for mark in observation.marks]


def stated(observation: Observation) -> tuple[Any, ...]:
    return observation.outcome, observation.cause, observation.status, observation.code


def assert_of(observation: Observation, caller: Caller, alias: str) -> None:
    """Compare what the observation says of the caller and of the call with the ledger."""
    call = caller.only_call
    assert (observation.route, observation.model, observation.usage_id) == ("chat.completions", alias, call.id)
    assert (observation.account, observation.client_id) == (caller.did, call.client_id)
    assert observation.credential == caller.signer.jkt
    assert observation.request_id == call.request_id
    assert (observation.hold_microusd, observation.charge_microusd) == (call.hold_microusd, call.charge_microusd)
    assert observation.hold_inputs["price_version"] == call.price_version_id
    assert observation.hold_inputs["max_cost_microusd"] == 100_000


def test_a_count_of_tokens(stage: Stage, observed: Observed) -> None:
    """It is observed, and has neither a hold nor attempts, whether the upstream counts or not."""
    for adapter, asked in (("anthropic", [Step.SENT, Step.UPSTREAM_DONE]), ("openai", [])):
        alias, caller = stage.model(upstream=stage.upstream_row(adapter=adapter)), stage.caller()
        body = {"model": alias, "messages": [{"role": "user", "content": "Count this."}]}
        assert caller.post(body, path=COUNT, key=None, max_cost=None).status_code == 200
        seen = observed.only(caller.did)
        assert stated(seen) == ("counted", "", 200, "")
        assert (seen.route, seen.model, seen.attempts) == ("messages.count_tokens", alias, [])
        assert (seen.hold_microusd, seen.usage_id, caller.calls) == (None, "", [])
        assert steps(seen) == [*CHECKS, *asked, Step.ANSWERED]
        assert span_of_request(seen, COUNT).attributes["gen_ai.operation.name"] == "count_tokens"


def test_a_count_of_tokens_that_is_refused(stage: Stage, observed: Observed) -> None:
    alias, caller = stage.model(), stage.caller(scopes=("infer:other",))
    body = {"model": alias, "messages": [{"role": "user", "content": "Count this."}]}
    assert caller.post(body, path=COUNT, key=None, max_cost=None).status_code == 403
    seen = observed.only(caller.did)
    assert stated(seen) == ("refused", "insufficient_scope", 403, "insufficient_scope")
    assert seen.route == "messages.count_tokens"


def test_a_whole_answer(stage: Stage, observed: Observed) -> None:
    alias, caller = stage.model(max_output_tokens=20), stage.caller()
    assert caller.post(chat(alias)).status_code == 200
    seen = observed.only(caller.did)
    assert stated(seen) == ("settled", "", 200, "")
    assert steps(seen) == WHOLE
    assert_of(seen, caller, alias)
    [attempt] = seen.attempts
    assert (attempt.deployment, attempt.status, attempt.cause) == (caller.only_call.deployment, 200, "")
    assert not seen.is_stream
    assert 0 < seen.overhead_ns < seen.duration_ns
    assert 0 < (seen.first_byte_ns or 0) < seen.duration_ns


def test_a_stream(stage: Stage, observed: Observed) -> None:
    alias, caller = stage.model(max_output_tokens=20), stage.caller()
    assert caller.post(chat(alias, stream=True)).status_code == 200
    seen = observed.only(caller.did)
    assert stated(seen) == ("settled", "", 200, "")
    assert steps(seen) == WHOLE
    assert_of(seen, caller, alias)
    assert seen.is_stream
    assert [(attempt.status, attempt.cause) for attempt in seen.attempts] == [(200, "")]


def test_a_repeated_request(stage: Stage, observed: Observed) -> None:
    alias, caller = stage.model(max_output_tokens=20), stage.caller()
    for _ in range(2):
        caller.post(chat(alias), key="same")
    _, again = observed.by(caller.did, 2)
    assert stated(again) == ("replayed", "", 200, "")
    assert (again.usage_id, again.attempts) == (caller.only_call.id, [])
    assert steps(again) == [*CHECKS, Step.ANSWERED]


@pytest.mark.parametrize(("model", "outcome", "cause", "status"), FAILURES, ids=[row[0] for row in FAILURES])
def test_a_failed_call_says_why(
    stage: Stage, observed: Observed, model: str, outcome: str, cause: str, status: int | None
) -> None:
    upstream = stage.upstream_row(timeout_seconds=0.4 if cause.startswith("timeout") else 30)
    alias, caller = stage.model(model, max_output_tokens=20, upstream=upstream), stage.caller()
    error = caller.post(chat(alias))
    seen = observed.only(caller.did)
    assert stated(seen) == (outcome, cause, error.status_code, error.json()["error"]["code"])
    assert steps(seen) == (WHOLE if cause == "bad_usage" else WITHOUT)
    assert_of(seen, caller, alias)
    [attempt] = seen.attempts
    assert (attempt.upstream, attempt.status) == (upstream.name, status)
    assert attempt.cause == ("" if cause == "bad_usage" else cause)
    assert caller.only_call.resolution == (cause if outcome == "released" else None)


@pytest.mark.parametrize(("model", "cause"), [("rate-limited", "upstream_429"), ("overloaded", "overloaded")])
def test_each_attempt_is_observed(stage: Stage, observed: Observed, model: str, cause: str) -> None:
    alias, caller = stage.model(model, max_output_tokens=20), stage.caller()
    assert caller.post(chat(alias)).status_code == 503
    seen = observed.only(caller.did)
    assert stated(seen) == ("released", cause, 503, "upstream_overloaded")
    assert [attempt.cause for attempt in seen.attempts] == [cause] * len(stage.upstream.ledger.entries)
    assert caller.only_call.resolution == cause


def test_nothing_listens(stage: Stage, observed: Observed) -> None:
    upstream = stage.upstream_row(base_url=f"http://127.0.0.1:{closed_port()}/v1")
    alias, caller = stage.model(upstream=upstream, max_output_tokens=20), stage.caller()
    assert caller.post(chat(alias)).status_code == 502
    seen = observed.only(caller.did)
    assert stated(seen) == ("released", "connection", 502, "upstream_error")
    assert {attempt.cause for attempt in seen.attempts} == {"connection"}
    assert caller.only_call.resolution == "connection"


def test_an_address_that_cannot_be_called(stage: Stage, observed: Observed) -> None:
    alias = stage.model(upstream=stage.upstream_row(base_url="http://[::1/v1"), max_output_tokens=20)
    caller = stage.caller()
    assert caller.post(chat(alias)).status_code == 503
    seen = observed.only(caller.did)
    assert stated(seen) == ("released", "misconfigured", 503, "model_unavailable")


@pytest.mark.parametrize(("model", "outcome", "cause", "code"), STREAMS, ids=[row[0] for row in STREAMS])
def test_a_stream_that_ends_early(
    stage: Stage, observed: Observed, model: str, outcome: str, cause: str, code: str
) -> None:
    alias, caller = stage.model(model, max_output_tokens=20), stage.caller()
    caller.post(chat(alias, stream=True))
    seen = observed.only(caller.did)
    assert stated(seen) == (outcome, cause, 200, code)
    assert steps(seen) == WHOLE
    assert_of(seen, caller, alias)


def test_a_stream_that_is_silent(stage: Stage, observed: Observed) -> None:
    alias = stage.model("small-1?tokens=9&token_delay_ms=30000", upstream=stage.upstream_row(timeout_seconds=0.5))
    caller = stage.caller()
    caller.post(chat(alias, stream=True, max_tokens=9))
    seen = observed.only(caller.did)
    assert (seen.outcome, seen.cause) == ("review", "timeout_idle")


def test_a_stream_beyond_its_ceiling(stage: Stage, observed: Observed) -> None:
    alias, caller = stage.model("endless"), stage.caller()
    caller.post(chat(alias, stream=True), max_cost=40)
    seen = observed.only(caller.did)
    assert stated(seen) == ("settled", "cut_at_ceiling", 200, "")


def test_a_client_that_leaves_a_stream(stage: Stage, observed: Observed) -> None:
    alias, caller = stage.model("small-1?tokens=400&token_delay_ms=20", max_output_tokens=500), stage.caller()
    with connect(caller) as connection:
        connection.sendall(raw_request(caller, chat(alias, stream=True)))
        assert b"200 OK" in connection.recv(4096)
    seen = observed.only(caller.did)
    assert (seen.outcome, seen.cause, seen.code) == ("settled", "client_left", "")
    assert Step.ANSWERED not in steps(seen)
    assert seen.charge_microusd == caller.only_call.charge_microusd


def test_a_client_that_leaves_a_plain_call(stage: Stage, observed: Observed) -> None:
    alias, caller = stage.model("small-1?delay_ms=400", max_output_tokens=20), stage.caller()
    with connect(caller) as connection:
        connection.sendall(raw_request(caller, chat(alias)))
        eventually(lambda: len(stage.upstream.ledger) == 1)
    seen = observed.only(caller.did)
    assert (seen.outcome, seen.cause, seen.status) == ("settled", "client_left", None)
    assert steps(seen) == WHOLE[:-1]
    assert_of(seen, caller, alias)


def test_a_client_that_leaves_before_its_body_has_come(stage: Stage, observed: Observed) -> None:
    alias, caller = stage.model(max_output_tokens=20), stage.caller()
    with connect(caller) as connection:
        connection.sendall(raw_request(caller, chat(alias))[:-10])
    seen = observed.only(caller.did)
    assert (seen.outcome, seen.cause, seen.status, seen.usage_id) == (Outcome.FAILED, "client_left", None, "")
    assert caller.calls == []
