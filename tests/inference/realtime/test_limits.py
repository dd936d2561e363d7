"""What bounds a session before anything is sent: the maximum, the alias, and what is set aside for each response."""

from contextlib import suppress
from typing import Any

import pytest
from websockets.exceptions import ConnectionClosed

from tests.inference.realtime.test_sessions import HELLO, cost
from tests.support.sessions import SILENCE, SPEECH, live_model, opened, settled, talker, upstream_session
from tests.support.stage import Stage


def requests_of(stage: Stage) -> list[dict[str, Any]]:
    return upstream_session(stage).of("response.create")


def test_a_pause_in_the_speech_gets_one_response_that_was_paid_for_before(stage: Stage) -> None:
    caller, alias = talker(stage), live_model(stage)
    with opened(caller, alias) as session:
        session.speak()
        session.speak(SILENCE)
        session.until("response.done")
    sent = upstream_session(stage)
    assert sent.of("session.update")[0]["session"]["audio"]["input"]["turn_detection"]["create_response"] is False
    [request] = sent.of("response.create")
    assert request["response"] == {"max_output_tokens": 4096}
    assert settled(caller).charge_microusd == cost(0, 0, 8, 2)


def test_who_wants_no_response_to_a_pause_gets_none(stage: Stage) -> None:
    caller, alias = talker(stage), live_model(stage)
    with opened(caller, alias) as session:
        session.listen(turn_detection={"type": "server_vad", "create_response": False})
        assert session.seen[-1]["session"]["audio"]["input"]["turn_detection"]["create_response"] is False
        session.speak()
        session.speak(SILENCE)
        session.until("input_audio_buffer.committed")
        session.say(HELLO)
    assert len(requests_of(stage)) == 1
    listened = upstream_session(stage).of("session.update")[1]
    assert listened["session"]["audio"]["input"]["turn_detection"]["create_response"] is False


@pytest.mark.parametrize(
    ("setting", "requested", "sent"),
    [(None, None, 4096), ("inf", "inf", 4096), (100, None, 100), (100, 50, 50), (None, 9999, 4096), (50, "inf", 4096)],
)
def test_every_response_has_a_limit(stage: Stage, setting: Any, requested: Any, sent: int) -> None:
    caller, alias = talker(stage), live_model(stage)
    with opened(caller, alias) as session:
        if setting is not None:
            session.send("session.update", session={"type": "realtime", "max_output_tokens": setting})
            assert session.until("session.updated")["session"]["max_output_tokens"] == setting
        session.say(HELLO, **({} if requested is None else {"max_output_tokens": requested}))
    assert [each["response"]["max_output_tokens"] for each in requests_of(stage)] == [sent]


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
    [request] = requests_of(stage)
    # At 64 a token of output, the most expensive; 32 a token of input, of which there are at most so many as bytes.
    assert 100 < request["response"]["max_output_tokens"] < 20_000 // 64
    assert (code, events[-1]["type"], events[-1]["error"]["code"]) == (4402, "error", "max_cost_exceeded")
    call = settled(caller)
    assert call.charge_microusd == cost(4, 0, 0, 0, request["response"]["max_output_tokens"]) <= 20_000
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
    sent = upstream_session(stage)
    assert sent.of("conversation.item.create") == []
    assert settled(caller).charge_microusd == cost(0, 0, 8)


def test_audio_is_bounded_before_it_is_sent(stage: Stage) -> None:
    caller, alias = talker(stage), live_model(stage)
    with opened(caller, alias, max_cost=20_000) as session:
        session.listen(turn_detection=None)
        with suppress(ConnectionClosed):
            for _ in range(40):  # a second each; 20 tokens at most, at 32
                session.speak(SPEECH * 10)
        code, events = session.ending()
    assert (code, events[-1]["error"]["code"]) == (4402, "max_cost_exceeded")
    sent = upstream_session(stage)
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


@pytest.mark.parametrize("input_tokens", [5000, 60_000])
def test_a_maximum_that_the_reports_have_used_up_ends_the_session_at_once(stage: Stage, input_tokens: int) -> None:
    caller, alias = talker(stage), live_model(stage)
    stage.upstream.realtime.manners.usage = lambda honest: {**honest, "input_tokens": input_tokens}
    with opened(caller, alias, max_cost=20_000) as session:
        session.say(HELLO)
        code, events = session.ending()
    assert [event["type"] for event in events] == ["service.usage", "error"]
    assert (events[0]["charge_microusd"], events[1]["error"]["code"], code) == (20_000, "max_cost_exceeded", 4402)
    assert settled(caller).charge_microusd == 20_000


def test_a_transcription_that_uses_the_maximum_up_ends_the_session_too(stage: Stage) -> None:
    caller, alias = talker(stage), live_model(stage)
    stage.upstream.realtime.manners.transcript_usage = lambda honest: {**honest, "output_tokens": 2000}
    with opened(caller, alias, max_cost=30_000) as session:
        session.listen(turn_detection=None, transcription={"model": "whisper-1"})
        session.speak()
        session.send("input_audio_buffer.commit")
        code, events = session.ending()
    assert (code, events[-1]["error"]["code"]) == (4402, "max_cost_exceeded")
    assert settled(caller).charge_microusd == 30_000


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
    assert len(requests_of(stage)) == 1


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
    assert "same" not in {request["event_id"] for request in requests_of(stage)}
