"""A metered call that succeeds, as JSON and as a stream."""

import orjson

from tests.support.stage import CHAT, Stage, chat
from tests.support.upstream.tokens import count_text


def test_a_chat_is_held_answered_and_charged_exactly(stage: Stage) -> None:
    alias, caller = stage.model(max_output_tokens=100), stage.caller(balance=1_000)
    body = chat(alias)
    answer = caller.post(body)
    assert answer.status_code == 200, answer.text
    completion = answer.json()
    assert completion["model"] == alias
    [entry] = stage.upstream.ledger
    prompt = count_text(body["messages"][0]["content"])
    assert completion["usage"]["prompt_tokens"] == prompt
    cost = -(-(prompt * 150_000 + entry.completion_tokens * 600_000) // 10**6)
    call = caller.only_call
    assert answer.headers["x-service-charge-microusd"] == str(cost)
    assert answer.headers["x-service-usage-id"] == call.id == entry.caller_key
    assert answer.headers["x-service-hold-microusd"] == str(call.hold_microusd)
    assert (call.state, call.charge_microusd, call.overrun_microusd) == ("settled", cost, 0)
    assert caller.wallet == {"balance": 1_000 - cost, "held": 0, "debt": 0}


def test_a_stream_is_forwarded_and_its_last_line_is_the_receipt(stage: Stage) -> None:
    alias, caller = stage.model(max_output_tokens=100), stage.caller(balance=1_000)
    with caller.stream(chat(alias)) as answer:
        assert answer.status_code == 200
        lines = list(answer.iter_lines())
    call = caller.only_call
    assert answer.headers["content-type"] == "text/event-stream"
    assert answer.headers["x-service-usage-id"] == call.id
    filled = [line for line in lines if line]
    assert filled[-2] == "data: [DONE]"
    receipt = orjson.loads(filled[-1].removeprefix(": service "))
    assert receipt == {"usage_id": call.id, "charge_microusd": call.charge_microusd}
    assert call.state == "settled"
    assert caller.wallet == {"balance": 1_000 - call.charge_microusd, "held": 0, "debt": 0}
    assert CHAT == "/v1/chat/completions"
