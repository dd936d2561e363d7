"""What a session is charged: text, sound, cached input and transcriptions at their own prices, once."""

import base64

import pytest

from billing.models import UsageRecord
from billing.queries import audit
from tests.inference.realtime.test_sessions import HELLO, cost
from tests.support.concurrency import eventually
from tests.support.sessions import SCOPES, SPEECH, live_model, opened, settled, talker
from tests.support.stage import Stage

USAGE = "/v1/usage"


def test_audio_and_what_is_cached_have_their_own_prices(stage: Stage) -> None:
    caller, alias = talker(stage, scopes=(*SCOPES, "usage:read")), live_model(stage)
    with opened(caller, alias) as session:
        session.listen(turn_detection=None)
        session.speak(SPEECH * 10)
        session.send("input_audio_buffer.commit")
        session.send("response.create", response={"output_modalities": ["audio"]})
        session.until("response.done")
        session.say(HELLO)
    call = settled(caller)
    record = UsageRecord.objects.get(call=call)
    # First 10 tokens of sound, 8 spoken; then 4 of text and 18 of sound, 8 written.
    assert (record.input_tokens, record.input_audio_tokens) == (10 + 22, 10 + 18)
    assert (record.output_tokens, record.output_audio_tokens, record.cached_input_tokens) == (16, 8, 0)
    assert call.charge_microusd == cost(4, 0, 8, 28, 8)
    [usage] = caller.get(USAGE).json()["data"]
    parts = ("inputTokens", "inputAudioTokens", "cachedInputTokens", "outputTokens", "outputAudioTokens")
    assert [usage[part] for part in parts] == [32, 28, 0, 16, 8]
    assert (usage["route"], usage["chargedMicrousd"]) == ("realtime", call.charge_microusd)


def test_cached_audio_does_not_count_at_its_full_price(stage: Stage) -> None:
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
    record = UsageRecord.objects.get(call=settled(caller))
    assert record.cached_input_tokens == 500
    assert record.input_audio_tokens == (300 - 250) + (300 - 200)
    assert settled(caller).charge_microusd == cost(800 - 150, 500, 20, 150, 0)


def test_a_transcription_is_charged_in_tokens_and_in_seconds(stage: Stage) -> None:
    caller, alias = talker(stage), live_model(stage)
    with opened(caller, alias) as session:
        session.listen(turn_detection=None, transcription={"model": "gpt-4o-transcribe"})
        session.speak(SPEECH * 5)
        session.send("input_audio_buffer.commit")
        session.until("conversation.item.input_audio_transcription.completed")
        assert session.until("service.usage")["charge_microusd"] == cost(0, 0, 3, 5)
        stage.upstream.realtime.manners.transcript_usage = lambda honest: {"type": "duration", "seconds": 1.2}
        session.speak(SPEECH * 5)
        session.send("input_audio_buffer.commit")
        assert session.until("service.usage")["charge_microusd"] == cost(0, 0, 3, 5 + 20)
    assert settled(caller).charge_microusd == cost(0, 0, 3, 25)


@pytest.mark.parametrize("max_cost", [700, 1000])
def test_a_flat_price_needs_no_usage(stage: Stage, max_cost: int) -> None:
    caller, alias = talker(stage), live_model(stage, price={"request": "700"})
    stage.upstream.realtime.manners.usage = lambda honest: None
    with opened(caller, alias, max_cost=max_cost) as session:
        session.say(HELLO)
        session.say(HELLO)
    assert settled(caller).charge_microusd == 700


def test_an_item_of_audio_counts_as_audio(stage: Stage) -> None:
    caller, alias = talker(stage), live_model(stage)
    audio = base64.b64encode(SPEECH * 100).decode()  # ten seconds: 200 tokens at most, and 640,000 bytes
    item = {"type": "message", "role": "user", "content": [{"type": "input_audio", "audio": audio}]}
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
