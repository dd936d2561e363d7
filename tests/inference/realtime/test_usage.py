"""Usage that an upstream reports wrongly, late, twice or not at all, and what the session is charged then."""

import json
from typing import Any

import pytest

from billing.queries import audit
from inference.routes.realtime import endings
from tests.inference.realtime.test_sessions import HELLO, cost
from tests.support.concurrency import eventually
from tests.support.sessions import SILENCE, live_model, opened, settled, talker
from tests.support.stage import Stage


def test_usage_beyond_the_hold_is_the_operators_loss(stage: Stage) -> None:
    caller, alias = talker(stage), live_model(stage)
    stage.upstream.realtime.manners.usage = lambda honest: {**honest, "output_tokens": 1_000_000}
    with opened(caller, alias, max_cost=20_000) as session:
        session.say(HELLO)
        assert session.until("service.usage")["charge_microusd"] == 20_000
    call = settled(caller)
    assert (call.charge_microusd, caller.wallet["balance"]) == (20_000, 980_000)
    assert audit.findings() == []


@pytest.mark.parametrize(
    "usage",
    [
        lambda honest: {**honest, "output_tokens": -1},
        lambda honest: {**honest, "output_tokens": 1.5},
        lambda honest: {**honest, "output_tokens": "8"},
        lambda honest: {**honest, "input_tokens": 10**12},
        lambda honest: {**honest, "input_token_details": {"audio_tokens": 99}},
        lambda honest: {**honest, "input_token_details": {"cached_tokens": 1, "cached_tokens_details": [1]}},
        lambda honest: {**honest, "output_token_details": {"audio_tokens": -5}},
    ],
)
def test_usage_that_is_no_count_leaves_the_session_to_review(stage: Stage, usage: Any) -> None:
    caller, alias = talker(stage), live_model(stage)
    with opened(caller, alias) as session:
        session.say(HELLO)
        stage.upstream.realtime.manners.usage = usage
        session.send("response.create")
        code, events = session.ending()
    assert (code, events[-1]["error"]["code"]) == (1011, "upstream_invalid")
    eventually(lambda: caller.only_call.state == "review")
    call = caller.only_call
    assert call.review_reason == "usage_malformed"
    assert call.evidence["charge_microusd"] >= cost(4, 0, 8)
    assert caller.wallet["held"] == 1_000_000


def test_missing_usage_leaves_the_session_to_review(stage: Stage) -> None:
    caller, alias = talker(stage), live_model(stage)
    with opened(caller, alias) as session:
        session.say(HELLO)
        stage.upstream.realtime.manners.usage = lambda honest: None
        session.say(HELLO)
        stage.upstream.realtime.manners.usage = lambda honest: honest
        session.say(HELLO)
    eventually(lambda: caller.only_call.state == "review")
    call = caller.only_call
    assert call.review_reason == "usage_missing"
    assert call.evidence["output_tokens"] == 24
    assert call.evidence["charge_microusd"] == cost(4 + (4 + 8 + 4 + 8 + 4), 16, 24)


@pytest.mark.parametrize("status", ["completed", "incomplete", None])
def test_a_response_that_was_worked_for_and_tells_no_usage_leaves_the_session_to_review(
    stage: Stage, status: str | None
) -> None:
    call = session_with(stage, {"id": "resp_1", "status": status, "output": []})
    assert (call.state, call.review_reason) == ("review", "usage_missing")


@pytest.mark.parametrize("status", ["cancelled", "failed"])
def test_a_response_that_came_to_nothing_needs_no_usage(stage: Stage, status: str) -> None:
    call = session_with(stage, {"id": "resp_1", "status": status, "output": []})
    assert (call.state, call.charge_microusd) == ("settled", cost(4, 0, 8))


def session_with(stage: Stage, response: dict[str, Any]) -> Any:
    """Make the call of a session with one response that tells no usage, and one that does."""
    caller, alias = talker(stage), live_model(stage)
    done = {"type": "response.done", "event_id": "event_1", "response": response}
    stage.upstream.realtime.manners.first = [json.dumps({**done, "type": "response.created"}), json.dumps(done)]
    with opened(caller, alias) as session:
        session.until("response.done")
        session.say(HELLO)
    eventually(lambda: caller.only_call.state in ("settled", "review"))
    return caller.only_call


def test_a_client_that_leaves_pays_what_its_cancelled_response_reports(stage: Stage) -> None:
    caller, alias = talker(stage), live_model(stage)
    stage.upstream.realtime.gate.clear()
    with opened(caller, alias) as session:
        session.send("response.create")
        session.until("response.output_text.delta")
    call = settled(caller)
    [sent] = stage.upstream.realtime.sessions
    assert len(sent.of("response.cancel")) == 1
    assert call.charge_microusd == cost(0, 0, 1)


def test_a_client_that_leaves_an_upstream_that_reports_nothing_is_left_to_review(
    stage: Stage, monkeypatch: pytest.MonkeyPatch
) -> None:
    caller, alias = talker(stage), live_model(stage)
    monkeypatch.setattr(endings, "LEFT", endings.Ending(1000, "the client left", patience_seconds=0.01))
    stage.upstream.realtime.gate.clear()
    stage.upstream.realtime.manners.tokens = 3
    with opened(caller, alias) as session:
        monkeypatch.setattr("tests.support.upstream.realtime.Talk._on_response_cancel", _deaf)
        session.send("response.create")
        session.until("response.output_text.delta")
    eventually(lambda: caller.only_call.state == "review")
    assert caller.only_call.evidence["charge_microusd"] == cost(0, 0, 1)


async def _deaf(self: Any, event: Any) -> None:
    """Hear no cancellation."""


def test_an_upstream_that_dies_in_a_response_is_charged_by_what_was_delivered(stage: Stage) -> None:
    caller, alias = talker(stage), live_model(stage)
    with opened(caller, alias) as session:
        session.say(HELLO)
        stage.upstream.realtime.manners.cut_after = 3
        session.send("response.create", response={"output_modalities": ["audio"]})
        code, events = session.ending()
    assert (code, events[-1]["error"]["code"]) == (1011, "upstream_error")
    eventually(lambda: caller.only_call.state == "review")
    call = caller.only_call
    # What was reported, and three pieces of sound of 50 ms each.
    assert call.evidence["charge_microusd"] == cost(4, 0, 8, 0, 3)
    assert caller.wallet["held"] == call.hold_microusd


def test_an_upstream_that_leaves_between_responses_is_charged_at_once(stage: Stage) -> None:
    caller, alias = talker(stage), live_model(stage)
    with opened(caller, alias) as session:
        session.say(HELLO)
        session.until("service.usage")
        stage.upstream.realtime.manners.cut_after = 0
        stage.upstream.realtime.manners.tokens = 1
        session.listen(turn_detection=None)
    assert settled(caller).charge_microusd == cost(4, 0, 8)


def test_an_upstream_that_answers_unasked_is_stopped_where_nothing_is_left(stage: Stage) -> None:
    caller, alias = talker(stage), live_model(stage)
    stage.upstream.realtime.manners.obeys = False
    with opened(caller, alias, max_cost=1_000_000) as session:
        session.speak()
        session.speak(SILENCE)
        session.until("response.done")
    eventually(lambda: caller.only_call.state != "dispatched")
    assert caller.only_call.state in ("settled", "review")
    assert audit.findings() == []


def test_the_same_report_twice_is_charged_once(stage: Stage) -> None:
    caller, alias = talker(stage), live_model(stage)
    report = (
        '{"type":"response.done","response":{"id":"r","status":"completed",'
        '"usage":{"input_tokens":10,"output_tokens":10}}}'
    )
    stage.upstream.realtime.manners.first = [report, report]
    with opened(caller, alias) as session:
        session.until("service.usage")
        session.say(HELLO)
    assert settled(caller).charge_microusd == cost(10 + 4, 0, 18)
