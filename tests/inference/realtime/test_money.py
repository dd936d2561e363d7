"""What a session may cost: bounded before anything is sent, counted as it is reported, and charged once."""

import base64
import json
from contextlib import suppress
from typing import Any

import httpx
import pytest
from websockets.exceptions import ConnectionClosed

from billing.models import UsageRecord
from billing.queries import audit
from inference.routes.realtime import endings
from tests.inference.realtime.test_sessions import HELLO, cost
from tests.support.concurrency import eventually
from tests.support.sessions import SCOPES, SILENCE, SPEECH, Session, live_model, opened, settled, talker
from tests.support.stage import Stage

USAGE = "/v1/usage"


def asked_of(stage: Stage) -> list[dict[str, Any]]:
    return stage.upstream.realtime.sessions[0].of("response.create")


def listen(session: Session, **audio: Any) -> None:
    session.send("session.update", session={"type": "realtime", "audio": {"input": audio}})
    session.until("session.updated")


def test_sound_and_what_is_cached_have_their_own_prices(stage: Stage) -> None:
    caller, alias = talker(stage, scopes=(*SCOPES, "usage:read")), live_model(stage)
    with opened(caller, alias) as session:
        listen(session, turn_detection=None)
        session.speak(SPEECH * 10)
        session.send("input_audio_buffer.commit")
        session.send("response.create", response={"output_modalities": ["audio"]})
        session.until("response.done")
        session.say(HELLO)
    call = settled(caller)
    record = UsageRecord.objects.get(reservation=call)
    # First 10 tokens of sound, 8 spoken; then 4 of text and 18 of sound, 8 written.
    assert (record.input_tokens, record.input_audio_tokens) == (10 + 22, 10 + 18)
    assert (record.output_tokens, record.output_audio_tokens, record.cached_input_tokens) == (16, 8, 0)
    assert call.charge_microusd == cost(4, 0, 8, 28, 8)
    [told] = httpx.get(f"{caller.origin}{USAGE}", headers=caller.headers(USAGE, method="GET")).json()["data"]
    parts = ("inputTokens", "inputAudioTokens", "cachedInputTokens", "outputTokens", "outputAudioTokens")
    assert [told[part] for part in parts] == [32, 28, 0, 16, 8]
    assert (told["route"], told["chargedMicrousd"]) == ("realtime", call.charge_microusd)


def test_cached_sound_is_no_sound_at_its_full_price(stage: Stage) -> None:
    caller, alias = talker(stage), live_model(stage)
    details = {"text_tokens": 100, "audio_tokens": 300, "cached_tokens": 250}
    split = {**details, "cached_tokens_details": {"text_tokens": 50, "audio_tokens": 200}}
    usages = iter([details, split])
    stage.upstream.realtime.manners.usage = lambda honest: {
        "input_tokens": 400,
        "output_tokens": 10,
        "input_token_details": next(usages),
        "output_token_details": {"text_tokens": 10},
    }
    with opened(caller, alias) as session:
        session.say(HELLO)
        session.say(HELLO)
    record = UsageRecord.objects.get(reservation=settled(caller))
    assert record.cached_input_tokens == 500
    assert record.input_audio_tokens == (300 - 250) + (300 - 200)
    assert settled(caller).charge_microusd == cost(800 - 150, 500, 20, 150, 0)


def test_a_transcription_is_charged_in_tokens_and_in_seconds(stage: Stage) -> None:
    caller, alias = talker(stage), live_model(stage)
    with opened(caller, alias) as session:
        listen(session, turn_detection=None, transcription={"model": "gpt-4o-transcribe"})
        session.speak(SPEECH * 5)
        session.send("input_audio_buffer.commit")
        session.until("conversation.item.input_audio_transcription.completed")
        assert session.until("service.usage")["charge_microusd"] == cost(0, 0, 3, 5)
        stage.upstream.realtime.manners.transcript_usage = lambda honest: {"type": "duration", "seconds": 1.2}
        session.speak(SPEECH * 5)
        session.send("input_audio_buffer.commit")
        assert session.until("service.usage")["charge_microusd"] == cost(0, 0, 3, 5 + 20)
    assert settled(caller).charge_microusd == cost(0, 0, 3, 25)


def test_a_pause_in_the_speech_gets_one_response_that_was_paid_for_before(stage: Stage) -> None:
    caller, alias = talker(stage), live_model(stage)
    with opened(caller, alias) as session:
        session.speak()
        session.speak(SILENCE)
        session.until("response.done")
    [sent] = stage.upstream.realtime.sessions
    assert sent.of("session.update")[0]["session"]["audio"]["input"]["turn_detection"]["create_response"] is False
    [asked] = sent.of("response.create")
    assert asked["response"] == {"max_output_tokens": 4096}
    assert settled(caller).charge_microusd == cost(0, 0, 8, 2)


def test_who_wants_no_response_to_a_pause_gets_none(stage: Stage) -> None:
    caller, alias = talker(stage), live_model(stage)
    with opened(caller, alias) as session:
        listen(session, turn_detection={"type": "server_vad", "create_response": False})
        assert session.seen[-1]["session"]["audio"]["input"]["turn_detection"]["create_response"] is False
        session.speak()
        session.speak(SILENCE)
        session.until("input_audio_buffer.committed")
        session.say(HELLO)
    assert len(asked_of(stage)) == 1
    listened = stage.upstream.realtime.sessions[0].of("session.update")[1]
    assert listened["session"]["audio"]["input"]["turn_detection"]["create_response"] is False


@pytest.mark.parametrize(
    ("setting", "asked", "sent"),
    [(None, None, 4096), ("inf", "inf", 4096), (100, None, 100), (100, 50, 50), (None, 9999, 4096), (50, "inf", 4096)],
)
def test_every_response_has_a_limit(stage: Stage, setting: Any, asked: Any, sent: int) -> None:
    caller, alias = talker(stage), live_model(stage)
    with opened(caller, alias) as session:
        if setting is not None:
            session.send("session.update", session={"type": "realtime", "max_output_tokens": setting})
            assert session.until("session.updated")["session"]["max_output_tokens"] == setting
        session.say(HELLO, **({} if asked is None else {"max_output_tokens": asked}))
    assert [each["response"]["max_output_tokens"] for each in asked_of(stage)] == [sent]


def test_the_alias_bounds_a_response_too(stage: Stage) -> None:
    caller, alias = talker(stage), live_model(stage, max_output_tokens=5)
    with opened(caller, alias) as session:
        done = session.say(HELLO, max_output_tokens=100)
    assert done["response"]["status"] == "incomplete"
    assert settled(caller).charge_microusd == cost(4, 0, 5)


def test_a_response_gets_no_more_than_is_left_and_then_the_session_ends(stage: Stage) -> None:
    caller, alias = talker(stage), live_model(stage)
    stage.upstream.realtime.manners.tokens = 10_000
    with opened(caller, alias, max_cost=20_000) as session:
        done = session.say(HELLO, output_modalities=["audio"])
        assert done["response"]["status"] == "incomplete"
        session.send("response.create", event_id="mine")
        code, events = session.ending()
    [asked] = asked_of(stage)
    # At 64 a token of output, the dearest; 32 a token of input, of which there are at most so many as bytes.
    assert 100 < asked["response"]["max_output_tokens"] < 20_000 // 64
    assert (code, events[-1]["type"], events[-1]["error"]["code"]) == (4402, "error", "max_cost_exceeded")
    call = settled(caller)
    assert call.charge_microusd == cost(4, 0, 0, 0, asked["response"]["max_output_tokens"]) <= 20_000
    assert caller.wallet == {"balance": 1_000_000 - call.charge_microusd, "held": 0, "debt": 0}


def test_at_the_ceiling_what_is_paid_for_is_finished(stage: Stage) -> None:
    caller, alias = talker(stage), live_model(stage)
    stage.upstream.realtime.gate.clear()
    with opened(caller, alias, max_cost=20_000) as session:
        session.send("response.create", response={})
        session.until("response.output_text.delta")
        text = "x" * 20_000  # as so many tokens of text it would cost more than there is, by itself
        item = {"type": "message", "role": "user", "content": [{"type": "input_text", "text": text}]}
        session.send("conversation.item.create", item=item)
        assert session.until("error")["error"]["code"] == "max_cost_exceeded"
        stage.upstream.loop.call_soon_threadsafe(stage.upstream.realtime.gate.set)
        code, events = session.ending()
    assert (code, "response.done" in [event["type"] for event in events]) == (4402, True)
    [sent] = stage.upstream.realtime.sessions
    assert sent.of("conversation.item.create") == []
    assert settled(caller).charge_microusd == cost(0, 0, 8)


def test_sound_is_bounded_before_it_is_sent(stage: Stage) -> None:
    caller, alias = talker(stage), live_model(stage)
    with opened(caller, alias, max_cost=20_000) as session:
        listen(session, turn_detection=None)
        with suppress(ConnectionClosed):
            for _ in range(40):  # a second each; 20 tokens at most, at 32
                session.speak(SPEECH * 10)
        code, events = session.ending()
    assert (code, events[-1]["error"]["code"]) == (4402, "max_cost_exceeded")
    [sent] = stage.upstream.realtime.sessions
    seconds = len(sent.of("input_audio_buffer.append"))
    # With 32 tokens for an answer at 64, and 300 for what the session says of itself, one more would be too much.
    assert seconds * 20 * 32 < 20_000 < (seconds + 1) * 20 * 32 + 32 * 64 + 300 * 32
    assert settled(caller).charge_microusd == 0


def test_a_speech_that_nobody_can_answer_any_more_ends_the_session(stage: Stage) -> None:
    caller, alias = talker(stage), live_model(stage)
    stage.upstream.realtime.manners.usage = lambda honest: {**honest, "input_tokens": 4900}
    with opened(caller, alias, max_cost=20_000) as session:
        session.say(HELLO)
        session.send("response.create")
        code, _ = session.ending()
    assert code == 4402
    assert settled(caller).charge_microusd == cost(4900, 0, 8)


def test_two_responses_at_once_are_never_set_aside_twice(stage: Stage) -> None:
    caller, alias = talker(stage), live_model(stage)
    stage.upstream.realtime.gate.clear()
    with opened(caller, alias, max_cost=20_000) as session:
        session.send("response.create")
        session.until("response.output_text.delta")
        session.send("response.create", event_id="second")
        error = session.until("error")["error"]
        assert (error["code"], error["event_id"]) == ("max_cost_exceeded", "second")
        stage.upstream.loop.call_soon_threadsafe(stage.upstream.realtime.gate.set)
        session.until("response.done")
    assert len(asked_of(stage)) == 1


def test_a_response_that_the_upstream_refuses_is_set_aside_no_more(stage: Stage) -> None:
    caller, alias = talker(stage), live_model(stage)
    stage.upstream.realtime.gate.clear()
    with opened(caller, alias, max_cost=1_000_000) as session:
        session.send("response.create", response={"max_output_tokens": 100})
        session.until("response.output_text.delta")
        for number in range(200):  # each would set 4,096 tokens aside, 200 of them thirteen times the maximum
            session.send("response.create", event_id=f"again {number}", response={"max_output_tokens": 4096})
            error = session.until("error")["error"]
            assert (error["code"], error["event_id"]) == ("conversation_already_has_active_response", f"again {number}")
        stage.upstream.loop.call_soon_threadsafe(stage.upstream.realtime.gate.set)
        session.until("response.done")


def test_an_error_about_another_event_frees_nothing(stage: Stage) -> None:
    caller, alias = talker(stage), live_model(stage)
    stage.upstream.realtime.gate.clear()
    with opened(caller, alias, max_cost=20_000) as session:
        session.send("response.create", event_id="same")
        session.send("conversation.item.delete", event_id="same", item_id="none")
        assert session.until("error")["error"]["code"] == "item_not_found"
        session.send("response.create")
        assert session.until("error")["error"]["code"] == "max_cost_exceeded"
        stage.upstream.loop.call_soon_threadsafe(stage.upstream.realtime.gate.set)
        session.until("response.done")
    assert "same" not in {asked["event_id"] for asked in asked_of(stage)}


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


def test_a_flat_price_needs_no_usage(stage: Stage) -> None:
    caller, alias = talker(stage), live_model(stage, price={"request": "700"})
    stage.upstream.realtime.manners.usage = lambda honest: None
    with opened(caller, alias, max_cost=1000) as session:
        session.say(HELLO)
        session.say(HELLO)
    assert settled(caller).charge_microusd == 700


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
        listen(session, turn_detection=None)
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


def test_an_item_of_sound_counts_as_sound(stage: Stage) -> None:
    caller, alias = talker(stage), live_model(stage)
    sound = base64.b64encode(SPEECH * 100).decode()  # ten seconds: 200 tokens at most, and 640,000 bytes
    item = {"type": "message", "role": "user", "content": [{"type": "input_audio", "audio": sound}]}
    with opened(caller, alias, max_cost=100_000) as session:
        session.send("conversation.item.create", item=item)
        session.send("response.create")
        session.until("response.done")
    assert settled(caller).charge_microusd == cost(0, 0, 8, 100)


def test_a_number_of_sessions_never_spends_more_than_there_is(stage: Stage) -> None:
    caller, alias = talker(stage, balance=50_000), live_model(stage)
    stage.upstream.realtime.manners.usage = lambda honest: {**honest, "output_tokens": 100_000}
    with opened(caller, alias, max_cost=30_000) as one, opened(caller, alias, max_cost=20_000) as other:
        for session in (one, other):
            session.say(HELLO)
    eventually(lambda: caller.wallet["held"] == 0)
    assert caller.wallet == {"balance": 0, "held": 0, "debt": 0}
    assert audit.findings() == []
