"""Sessions with the demo: honest about itself, and metered to the token."""

from tests.inference.realtime.test_sessions import HELLO, cost
from tests.support.sessions import SPEECH, live_model, opened, settled, talker
from tests.support.stage import Stage


def demo_model(stage: Stage) -> str:
    return live_model(stage, upstream=stage.upstream_row(adapter="demo", options={"token_seconds": 0}))


def test_it_answers_a_text_in_text(stage: Stage) -> None:
    caller, alias = talker(stage), demo_model(stage)
    with opened(caller, alias) as session:
        done = session.say(HELLO, output_modalities=["text"])["response"]
    assert done["output"][0]["content"][0]["text"].startswith("This is the gateway's demo backend: no model was asked.")
    usage = done["usage"]
    assert (usage["input_tokens"], usage["output_token_details"]["audio_tokens"]) == (5, 0)
    assert settled(caller).charge_microusd == cost(5, 0, usage["output_tokens"])


def test_it_answers_audio_with_audio(stage: Stage) -> None:
    caller, alias = talker(stage), demo_model(stage)
    with opened(caller, alias) as session:
        assert session.seen[0]["session"]["model"] == alias
        session.speak(SPEECH * 12)
        session.send("input_audio_buffer.commit")
        session.send("response.create")
        done = session.until("response.done")["response"]
    transcript = done["output"][0]["content"][0]["transcript"]
    assert transcript.endswith("I heard 1.2 seconds of sound.")
    sounds = [event for event in session.seen if event["type"] == "response.output_audio.delta"]
    usage = done["usage"]
    assert usage["output_token_details"] == {"text_tokens": len(sounds), "audio_tokens": 2 * len(sounds)}
    assert settled(caller).charge_microusd == cost(0, 0, len(sounds), 12, 2 * len(sounds))


def test_it_keeps_the_limit_and_stops_on_request(stage: Stage) -> None:
    caller, alias = talker(stage), demo_model(stage)
    with opened(caller, alias) as session:
        done = session.say(HELLO, output_modalities=["text"], max_output_tokens=3)["response"]
        assert (done["status"], done["usage"]["output_tokens"]) == ("incomplete", 3)
        session.send("response.cancel")
        assert session.until("error")["error"]["code"] == "response_cancel_not_active"
        session.send("input_audio_buffer.commit")
        assert session.until("error")["error"]["code"] == "input_audio_buffer_commit_empty"
    assert settled(caller).charge_microusd == cost(5, 0, 3)


def test_a_client_that_leaves_stops_it(stage: Stage) -> None:
    upstream = stage.upstream_row(adapter="demo", options={"token_seconds": 0.5})
    caller, alias = talker(stage), live_model(stage, upstream=upstream)
    with opened(caller, alias) as session:
        session.send("response.create", response={"output_modalities": ["text"]})
        session.until("response.output_text.delta")
    assert 0 < settled(caller).charge_microusd < cost(0, 0, 15)
