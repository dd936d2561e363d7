"""What the parts of a chat's usage cost, to the micro-USD, as JSON and as a stream."""

import math
from decimal import Decimal
from typing import Any

import orjson
import pytest

from tests.support.stage import Stage, chat

PRICE = {
    "input_token": "3",
    "cached_input_token": "0.5",
    "input_audio_token": "11",
    "output_token": "7",
    "output_audio_token": "41.5",
}
PLAIN = {"input_token": "3", "output_token": "7"}
SPOKEN: Any = {"modalities": ["text", "audio"], "audio": {"voice": "alloy", "format": "pcm16"}}
PREDICTED: Any = {"prediction": {"type": "content", "content": "the quick brown fox " * 20}}
WITH_AUDIO: Any = [
    {"role": "user", "content": [{"type": "input_audio", "input_audio": {"data": "AAAA", "format": "wav"}}] * 40}
]


def ask(stage: Stage, model: str, body: dict[str, Any], price: Any, streams: bool) -> tuple[Any, Any]:
    alias = stage.model(model, max_output_tokens=200, context_tokens=4000, price=price)
    caller = stage.caller()
    answer = caller.post(chat(alias, stream=streams, **body))
    assert answer.status_code == 200, answer.text
    return answer, caller.only_call


CASES = [
    ("small-1?tokens=10&reasoning_tokens=30", {"reasoning_effort": "high"}, PRICE),
    ("small-1?tokens=10&accepted_tokens=8&rejected_tokens=25", PREDICTED, PRICE),
    ("small-1?tokens=10&cached_tokens=5", {}, PRICE),
    ("small-1?tokens=10&cached_tokens=5", {}, PLAIN),
    ("small-1?tokens=10&spoken_tokens=12", SPOKEN, PRICE),
    ("small-1?tokens=10&audio_tokens=20&cached_tokens=3", {"messages": WITH_AUDIO}, PRICE),
    ("small-1?tokens=10&audio_tokens=20", {"messages": WITH_AUDIO}, PLAIN),
    ("small-1?tokens=10", {"n": 4}, PRICE),
]


@pytest.mark.parametrize("streams", [False, True], ids=["json", "stream"])
@pytest.mark.parametrize(("model", "body", "price"), CASES, ids=[f"{model}-{len(price)}" for model, _, price in CASES])
def test_each_token_is_charged_at_its_own_price_once(
    stage: Stage, model: str, body: dict[str, Any], price: dict[str, str], streams: bool
) -> None:
    _, call = ask(stage, model, body, price, streams)
    usage = stage.upstream.ledger.entries[0].reported_usage
    cached = usage["prompt_tokens_details"]["cached_tokens"]
    audio, spoken = (usage[f"{side}_tokens_details"]["audio_tokens"] for side in ("prompt", "completion"))
    counted = {
        "input_token": usage["prompt_tokens"] - cached - audio,
        "cached_input_token": cached,
        "input_audio_token": audio,
        "output_token": usage["completion_tokens"] - spoken,
        "output_audio_token": spoken,
    }
    plain = {
        "cached_input_token": "input_token",
        "input_audio_token": "input_token",
        "output_audio_token": "output_token",
    }
    due = sum(count * Decimal(price.get(name) or price[plain[name]]) for name, count in counted.items())
    assert call.state == "settled"
    assert call.charge_microusd == math.ceil(due) <= call.hold_microusd
    record = call.usage_record
    assert (record.input_audio_tokens or 0, record.output_audio_tokens or 0) == (audio, spoken)
    assert record.output_tokens == usage["completion_tokens"]


def test_rejected_tokens_that_fill_the_prediction_are_within_the_hold(stage: Stage) -> None:
    predicted = {"prediction": {"type": "content", "content": "x" * 100}}
    _, call = ask(stage, "small-1?tokens=200&rejected_tokens=100", predicted, PLAIN, streams=False)
    assert call.usage_record.output_tokens == 300
    assert call.charge_microusd == 3 * call.usage_record.input_tokens + 7 * 300 <= call.hold_microusd


def test_the_gateways_own_limit_of_a_predicted_answer_has_the_name_that_the_vendor_takes(stage: Stage) -> None:
    ask(stage, "small-1", PREDICTED, PLAIN, streams=False)
    sent = stage.upstream.ledger.entries[0].body
    assert sent["max_tokens"] == 200
    assert "max_completion_tokens" not in sent


def test_a_maximum_that_does_not_cover_the_prediction_is_refused(stage: Stage) -> None:
    alias, caller = stage.model(max_output_tokens=200, price={"input_token": "0", "output_token": "7"}), stage.caller()
    body = chat(alias, prediction={"type": "content", "content": "x" * 100})
    answer = caller.post(body, max_cost=7 * 100)
    assert answer.status_code == 402
    assert answer.json()["error"]["details"] == {"requiredMicrousd": 7 * 101}
    assert caller.post(body, max_cost=7 * 105).status_code == 200
    assert stage.upstream.ledger.entries[0].body["max_tokens"] == 5


@pytest.mark.parametrize("streams", [False, True], ids=["json", "stream"])
def test_a_spoken_answer_has_an_id_of_ours(stage: Stage, streams: bool) -> None:
    answer, _ = ask(stage, "small-1?tokens=4&spoken_tokens=3", SPOKEN, PRICE, streams)
    assert "upstream" not in answer.text
    if not streams:
        audio = answer.json()["choices"][0]["message"]["audio"]
        assert audio["id"] == f"audio_{answer.json()['id'].rpartition('_')[2]}_0"
        assert audio["transcript"] == "the quick brown fox"
        return
    events = [orjson.loads(line[6:]) for line in answer.text.split("\n") if line.startswith("data: {")]
    audio = [choice["delta"]["audio"] for event in events for choice in event["choices"] if "audio" in choice["delta"]]
    assert audio[0] == {"id": f"audio_{events[0]['id'].rpartition('_')[2]}_0"}
    assert len([one for one in audio if "data" in one]) == 3


def test_a_spoken_stream_that_breaks_off_is_charged_by_the_audio_that_came(stage: Stage) -> None:
    _, call = ask(stage, "small-1?tokens=10&spoken_tokens=8&done=false&usage=missing", SPOKEN, PRICE, streams=True)
    assert call.state == "review"
    assert call.evidence["output_audio_tokens"] == 8
    assert call.evidence["output_tokens"] == 18


def test_an_endless_spoken_stream_is_cut(stage: Stage) -> None:
    answer, call = ask(stage, "small-1?tokens=10&spoken_tokens=5000", SPOKEN, PRICE, streams=True)
    assert '"finish_reason":"length"' in answer.text
    assert (call.state, call.usage_record.output_audio_tokens, call.usage_record.output_tokens) == ("settled", 200, 200)


def test_an_honest_spoken_stream_with_few_tokens_a_second_is_not_cut(stage: Stage) -> None:
    answer, call = ask(stage, "small-1?tokens=10&spoken_tokens=600", SPOKEN, PRICE, streams=True)
    assert '"finish_reason":"length"' not in answer.text
    assert call.usage_record.basis == "upstream"
