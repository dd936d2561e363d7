"""What a stranger tries: other people's keys and ids, one key twice at once, and frames without end."""

from base64 import b64encode
from typing import Any

import pytest

from billing.queries import audit
from inference.routes.realtime.audio import BYTES_PER_SECOND
from tests.inference.realtime.test_sessions import HELLO, cost
from tests.support.concurrency import at_once, eventually
from tests.support.sessions import code_of, live_model, opened, refused, settled, talker, upstream_session
from tests.support.stage import Stage


def test_anothers_key_is_a_key_of_ones_own(stage: Stage) -> None:
    alias, victim, stranger = live_model(stage), talker(stage), talker(stage)
    with opened(victim, alias, key="theirs") as session, opened(stranger, alias, key="theirs") as other:
        assert session.headers["x-service-usage-id"] != other.headers["x-service-usage-id"]
        session.say(HELLO)
    assert settled(victim).charge_microusd == cost(4, 0, 8)
    assert settled(stranger).charge_microusd == 0


def test_anothers_session_and_response_cannot_be_named(stage: Stage) -> None:
    alias, victim, stranger = live_model(stage), talker(stage), talker(stage)
    stage.upstream.realtime.gate.clear()
    with opened(victim, alias) as session, opened(stranger, alias) as other:
        session.send("response.create")
        running = session.until("response.created")["response"]["id"]
        other.send("response.cancel", response_id=running)
        assert other.until("error")["error"]["code"] == "response_cancel_not_active"
        stage.upstream.loop.call_soon_threadsafe(stage.upstream.realtime.gate.set)
        assert session.until("response.done")["response"]["status"] == "completed"
    assert settled(victim).charge_microusd == cost(0, 0, 8)
    assert settled(stranger).charge_microusd == 0


def test_two_handshakes_with_one_key_at_once_are_one_session(stage: Stage) -> None:
    caller, alias = talker(stage, balance=3_000_000), live_model(stage)

    def shake_hands() -> Any:
        try:
            answer = refused(caller, alias, key="one")
        except AssertionError:
            return "accepted"
        return code_of(answer)

    results = at_once(*[shake_hands] * 4)
    assert {"accepted"} <= set(results) <= {"accepted", (409, "idempotency_in_progress")}
    eventually(lambda: caller.wallet["held"] == 0)
    assert len(caller.calls) == 1
    assert len(stage.upstream.realtime.sessions) == 1
    assert audit.findings() == []


def transcribing(prompt: str) -> dict[str, Any]:
    """Make the settings of a session whose input is transcribed."""
    transcription = {"model": "gpt-4o-transcribe", "prompt": prompt}
    return {"type": "realtime", "audio": {"input": {"transcription": transcription, "turn_detection": None}}}


def test_a_prompt_that_is_read_with_every_turn_is_bounded(stage: Stage) -> None:
    caller, alias = talker(stage), live_model(stage)
    with opened(caller, alias) as session:
        session.send("session.update", session=transcribing("x" * 1024))
        assert session.until("error")["error"]["param"] == "session.audio.input.transcription.prompt"
        session.say(HELLO)
    sent = upstream_session(stage)
    assert len(sent.of("session.update")) == 1, "the gateway's own"


@pytest.mark.parametrize(("prompt", "is_sent"), [("", True), ("x" * 900, False)])
def test_a_transcription_is_set_aside_with_its_prompt(stage: Stage, prompt: str, is_sent: bool) -> None:
    caller, alias = talker(stage), live_model(stage)
    # 32 micro-USD a token of input: the prompt alone would cost more than there is.
    with opened(caller, alias, max_cost=20_000) as session:
        session.send("session.update", session=transcribing(prompt))
        session.speak()
        session.send("input_audio_buffer.commit")
        if is_sent:
            session.until("conversation.item.input_audio_transcription.completed")
        else:
            assert session.ending()[0] == 4402
    sent = upstream_session(stage)
    assert bool(sent.of("input_audio_buffer.append")) is is_sent


def test_a_transcription_is_set_aside_where_the_upstream_refuses_to_end_it(stage: Stage) -> None:
    caller, alias = talker(stage), live_model(stage)
    with opened(caller, alias, max_cost=20_000) as session:
        session.send("session.update", session=transcribing("x" * 900))
        ended = {"input": {"transcription": None, "turn_detection": None}, "output": {"speed": 9.0}}
        session.send("session.update", session={"type": "realtime", "audio": ended})
        session.until("error")
        session.speak()
        assert session.ending()[0] == 4402
    sent = upstream_session(stage)
    assert not sent.of("input_audio_buffer.append")


def test_audio_is_bounded_by_its_format_where_the_upstream_refuses_another(stage: Stage) -> None:
    caller, alias = talker(stage), live_model(stage)
    # 32 micro-USD a token of input: 40 seconds of G.711 cost more than there is, and as many bytes of PCM are 7 seconds.
    encoded = b64encode(bytes(40 * BYTES_PER_SECOND["audio/pcmu"])).decode()
    with opened(caller, alias, max_cost=20_000) as session:
        for kind, speed in (("audio/pcmu", 1.0), ("audio/pcm", 9.0)):
            audio = {"input": {"format": {"type": kind}, "turn_detection": None}, "output": {"speed": speed}}
            session.send("session.update", session={"type": "realtime", "audio": audio})
        session.until("error")
        session.send("input_audio_buffer.append", audio=encoded)
        session.send("input_audio_buffer.clear")
        assert session.receive()["type"] == "error"
        assert session.ending()[0] == 4402
    sent = upstream_session(stage)
    assert not sent.of("input_audio_buffer.append")


@pytest.mark.parametrize(
    "frame", ["[]", '"x"', "1", "null", "", "{", "[" * 5_000, '{"type": []}', '{"type": {"a": 1}}']
)
def test_a_frame_that_is_no_event_is_refused_and_the_session_goes_on(stage: Stage, frame: str) -> None:
    caller, alias = talker(stage), live_model(stage)
    with opened(caller, alias) as session:
        session.socket.send(frame)
        assert session.until("error")["error"]["type"] == "invalid_request_error"
        session.say(HELLO)
    assert settled(caller).charge_microusd == cost(4, 0, 8)


def test_a_flood_of_events_that_are_refused_costs_nothing_and_reaches_nobody(stage: Stage) -> None:
    caller, alias = talker(stage), live_model(stage)
    with opened(caller, alias) as session:
        for _ in range(500):
            session.send("session.update", session={"model": "another"})
        for _ in range(500):
            assert session.until("error")["error"]["param"] == "session.model"
        session.say(HELLO)
    sent = upstream_session(stage)
    assert len(sent.of("session.update")) == 1, "the gateway's own"
    assert settled(caller).charge_microusd == cost(4, 0, 8)
