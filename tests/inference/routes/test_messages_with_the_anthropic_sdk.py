"""Messages with the vendor's own SDK, at an upstream of each form: answers, streams, thinking, content and counts."""

import asyncio
import base64
from typing import Any

import pytest
from pydantic import BaseModel

from account_gateway_client import Receipt, receipt_of
from tests.factories.images import PNG
from tests.inference.routes.anthropic_sdk import async_sdk, sdk
from tests.inference.routes.test_messages import FORMS, PRICE
from tests.support.stage import Stage

MESSAGES: Any = [{"role": "user", "content": "Say something about badgers."}]
TEXT = "the quick brown fox"
WEATHER: Any = {
    "name": "weather",
    "description": "Tell the weather.",
    "input_schema": {"type": "object", "properties": {"place": {"type": "string"}}, "required": ["place"]},
}


class Place(BaseModel):
    """What a structured answer is parsed into."""

    city: str


@pytest.fixture(params=FORMS, name="form")
def _form(request: pytest.FixtureRequest) -> str:
    return str(request.param)


def call_of(stage: Stage, form: str, model: str = "small-1?tokens=4", **members: Any) -> dict[str, Any]:
    """Return the arguments of a call at an upstream of a form."""
    alias = stage.model(model, upstream=stage.upstream_row(**FORMS[form]), price=PRICE, context_tokens=2000)
    return {"model": alias, "max_tokens": 50, "messages": MESSAGES, **members}


def test_a_message_is_answered(stage: Stage, form: str) -> None:
    caller, receipts = stage.caller(), list[Receipt]()
    with sdk(caller, on_receipt=receipts.append) as client:
        message = client.messages.create(**call_of(stage, form))
    assert [(block.type, block.text) for block in message.content] == [("text", TEXT)]
    assert (message.stop_reason, message.usage.output_tokens) == ("end_turn", 4)
    call = caller.only_call
    assert receipts == [Receipt(call.id, call.hold_microusd, call.charge_microusd, replayed=False)]
    assert message._request_id == call.request_id


def test_a_raw_response_has_the_headers_of_a_metered_call(stage: Stage, form: str) -> None:
    caller = stage.caller()
    with sdk(caller) as client:
        raw = client.messages.with_raw_response.create(**call_of(stage, form))
    assert raw.request_id == raw.headers["request-id"] == raw.headers["x-request-id"]
    assert raw.headers["x-service-charge-microusd"] == str(caller.only_call.charge_microusd)
    assert raw.parse().content[0].text == TEXT


def test_the_events_of_a_stream_come_in_the_vendors_order(stage: Stage, form: str) -> None:
    with sdk(stage.caller()) as client, client.messages.create(**call_of(stage, form), stream=True) as stream:
        events = list(stream)
    kinds = [event.type for event in events if event.type != "content_block_delta"]
    assert kinds == ["message_start", "content_block_start", "content_block_stop", "message_delta", "message_stop"]
    assert "".join(event.delta.text for event in events if event.type == "content_block_delta") == TEXT


def test_a_streams_helper_puts_the_message_together(stage: Stage, form: str) -> None:
    caller, call = stage.caller(), call_of(stage, form)
    with sdk(caller) as client, client.messages.stream(**call) as stream:
        assert "".join(stream.text_stream) == stream.get_final_text() == TEXT
        message = stream.get_final_message()
        assert stream.request_id == caller.only_call.request_id
    assert (message.stop_reason, message.usage.output_tokens, message.model) == ("end_turn", 4, call["model"])
    assert receipt_of(stream) == Receipt(
        caller.only_call.id, caller.only_call.hold_microusd, caller.only_call.charge_microusd, replayed=False
    )


def test_a_streams_helper_tells_each_event_with_what_there_is_so_far(stage: Stage, form: str) -> None:
    with sdk(stage.caller()) as client, client.messages.stream(**call_of(stage, form)) as stream:
        events = list(stream)
    texts = [event for event in events if event.type == "text"]
    assert texts[-1].snapshot == TEXT == "".join(event.text for event in texts)
    assert [event.content_block.text for event in events if event.type == "content_block_stop"] == [TEXT]
    assert events[-1].message.usage.output_tokens == 4


def test_a_whole_message_and_its_stream_cost_the_same(stage: Stage, form: str) -> None:
    caller, call = stage.caller(), call_of(stage, form)
    with sdk(caller) as client:
        whole = client.messages.create(**call)
        with client.messages.stream(**call) as stream:
            streamed = stream.get_final_message()
    first, second = caller.calls
    assert (first.charge_microusd, whole.usage.input_tokens) == (second.charge_microusd, streamed.usage.input_tokens)


def test_the_asynchronous_client_does_the_same(stage: Stage, form: str) -> None:
    caller, call = stage.caller(), call_of(stage, form)

    async def run() -> tuple[Any, ...]:
        async with async_sdk(caller) as client:
            whole = await client.messages.create(**call)
            events = [event.type async for event in await client.messages.create(**call, stream=True)]
            async with client.messages.stream(**call) as stream:
                text = "".join([text async for text in stream.text_stream])
                final = await stream.get_final_message()
            counted = await client.messages.count_tokens(model=call["model"], messages=MESSAGES)
        return whole, events, text, final, counted

    whole, events, text, final, counted = asyncio.run(run())
    assert whole.content[0].text == text == final.content[0].text == TEXT
    assert (events[0], events[-1]) == ("message_start", "message_stop")
    assert counted.input_tokens >= 7


def test_a_message_that_reaches_its_limit_says_so(stage: Stage, form: str) -> None:
    call = call_of(stage, form, "small-1?tokens=20", max_tokens=6)
    with sdk(stage.caller()) as client, client.messages.stream(**call) as stream:
        message = stream.get_final_message()
    assert (message.stop_reason, message.usage.output_tokens) == ("max_tokens", 6)
    assert message.content[0].text.startswith(TEXT)


@pytest.mark.parametrize(("limit", "model"), [(1, ""), (3, ""), (9, ""), (3, "&reasoning_tokens=2")])
def test_a_stream_that_is_cut_is_whole_for_the_sdk(stage: Stage, form: str, limit: int, model: str) -> None:
    caller, call = stage.caller(), call_of(stage, form, f"small-1?endless=true{model}", max_tokens=limit)
    with sdk(caller) as client, client.messages.stream(**call) as stream:
        message = stream.get_final_message()
    assert (message.stop_reason, message.usage.output_tokens) == ("max_tokens", limit)
    assert caller.only_call.usage_record.output_tokens == limit


@pytest.mark.parametrize("calls", [1, 2])
def test_a_tool_use_that_is_cut_is_whole_for_the_sdk(stage: Stage, form: str, calls: int) -> None:
    tool = {**WEATHER, "input_schema": {"type": "object", "required": [f"place{n}" for n in range(9)]}}
    call = call_of(stage, form, f"small-1?calls={calls}", max_tokens=4 + 9 * (calls - 1), tools=[tool])
    with sdk(stage.caller()) as client, client.messages.stream(**call) as stream:
        message = stream.get_final_message()
    assert message.stop_reason == "max_tokens"
    assert len(message.content) == calls


@pytest.mark.parametrize("streams", [False, True], ids=["json", "stream"])
def test_thinking_goes_back_as_it_came(stage: Stage, streams: bool) -> None:
    thinking: Any = {"type": "enabled", "budget_tokens": 1024}
    model = "small-1?tokens=2&reasoning_tokens=3"
    call = call_of(stage, "anthropic", model, max_tokens=3000, thinking=thinking)
    with sdk(stage.caller()) as client:
        if streams:
            with client.messages.stream(**call) as stream:
                kinds = [event.type for event in stream if event.type in ("thinking", "signature")]
                message = stream.get_final_message()
            assert kinds == ["thinking"] * 3 + ["signature"]
        else:
            message = client.messages.create(**call)
        thought, text = message.content
        assert (thought.thinking, thought.signature, text.text) == ("hm hm hm", "EqQBCkgIAxABGAIi", "the quick")
        turns = [*MESSAGES, {"role": "assistant", "content": message.content}, *MESSAGES]
        client.messages.create(**{**call, "messages": turns})
    sent = stage.upstream.ledger.entries[1].body["messages"][1]["content"]
    assert [block["type"] for block in sent] == ["thinking", "text"]
    assert sent[0]["signature"] == thought.signature


def test_structured_answers_are_parsed(stage: Stage, form: str) -> None:
    call = call_of(stage, form, 'small-1?text={"city":"Reykjavík"}')
    with sdk(stage.caller()) as client:
        message = client.messages.parse(**call, output_format=Place)
        with client.messages.stream(**call, output_format=Place) as stream:
            streamed = stream.get_final_message()
    assert message.parsed_output == streamed.parsed_output == Place(city="Reykjavík")


def test_images_and_documents_reach_the_model(stage: Stage, form: str) -> None:
    image = {"type": "base64", "media_type": "image/png", "data": base64.b64encode(PNG).decode()}
    document = {"type": "text", "media_type": "text/plain", "data": "Badgers sleep in winter."}
    content: Any = [
        {"type": "image", "source": image},
        {"type": "document", "source": document, "title": "Badgers"},
        {"type": "text", "text": "What do you see?", "cache_control": {"type": "ephemeral"}},
    ]
    call = call_of(stage, form, messages=[{"role": "user", "content": content}])
    with sdk(stage.caller()) as client:
        assert client.messages.create(**call).content[0].text == TEXT
    sent = str(stage.upstream.ledger.entries[0].body)
    assert image["data"] in sent
    assert "Badgers sleep in winter." in sent


def test_what_else_a_request_may_say(stage: Stage, form: str) -> None:
    system: Any = [{"type": "text", "text": "Be brief.", "cache_control": {"type": "ephemeral"}}]
    call = call_of(stage, form, system=system, metadata={"user_id": "u1"}, service_tier="auto")
    with sdk(stage.caller()) as client:
        assert client.messages.create(**call).usage.service_tier in (None, "standard")
    assert "Be brief." in str(stage.upstream.ledger.entries[0].body)


def test_tokens_are_counted(stage: Stage, form: str) -> None:
    call, caller = call_of(stage, form), stage.caller()
    with sdk(caller) as client:
        counted = client.messages.count_tokens(
            model=call["model"], messages=MESSAGES, system="Be brief.", tools=[WEATHER]
        )
    assert counted.input_tokens >= 7
    assert caller.calls == []
