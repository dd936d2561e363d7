"""The vendor's official SDK over the responses routes, against a gateway and an upstream with real sockets."""

import asyncio
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from typing import Any
from urllib.parse import urlencode

import openai
import pytest
from pydantic import BaseModel

from tests.factories.images import PNG_URL
from tests.inference.routes.sdk import async_sdk, sdk
from tests.support.stage import Stage

SCOPES = ("infer:*", "responses:read", "responses:delete")
PROMPT = "Say something about badgers."
WEATHER: Any = {
    "type": "function",
    "name": "get_weather",
    "strict": True,
    "parameters": {
        "type": "object",
        "properties": {"city": {"type": "string"}},
        "required": ["city"],
        "additionalProperties": False,
    },
}


class Place(BaseModel):
    """What a structured answer is parsed into."""

    city: str
    country: str


Make = Callable[..., tuple[Any, str]]


@pytest.fixture
def client(stage: Stage) -> Iterator[Make]:
    with ExitStack() as opened:

        def make(model: str = "small-1", **fields: Any) -> tuple[Any, str]:
            ours = opened.enter_context(sdk(stage.caller(scopes=SCOPES)))
            return ours, stage.model(model, **{"max_output_tokens": 200, **fields})

        yield make


def test_a_response_is_made_read_listed_and_deleted(client: Make) -> None:
    ours, alias = client()
    made = ours.responses.create(model=alias, input=PROMPT, metadata={"a": "b"})
    assert (made.status, made.model, made.metadata) == ("completed", alias, {"a": "b"})
    assert len(made.output_text.split()) == made.usage.output_tokens == 16
    assert ours.responses.retrieve(made.id).output_text == made.output_text
    [item] = list(ours.responses.input_items.list(made.id))
    assert (item.type, item.role, item.content[0].text) == ("message", "user", PROMPT)
    ours.responses.delete(made.id)
    with pytest.raises(openai.NotFoundError):
        ours.responses.retrieve(made.id)


def test_input_items_are_paged_by_the_sdk(client: Make) -> None:
    ours, alias = client()
    words = [f"Word {number}" for number in range(7)]
    made = ours.responses.create(model=alias, input=[{"role": "user", "content": word} for word in words])
    pages = ours.responses.input_items.list(made.id, limit=3, order="asc")
    assert [item.content[0].text for item in pages] == words


def test_a_conversation_goes_on(client: Make) -> None:
    ours, alias = client()
    first = ours.responses.create(model=alias, input=PROMPT)
    second = ours.responses.create(model=alias, input="And?", previous_response_id=first.id)
    assert second.previous_response_id == first.id
    assert second.usage.input_tokens > first.usage.input_tokens
    assert [item.role for item in ours.responses.input_items.list(second.id, order="asc")] == [
        "user", "assistant", "user"
    ]  # fmt: skip


def test_a_stream_adds_up_to_the_response_and_is_readable_at_once(client: Make) -> None:
    ours, alias = client()
    with ours.responses.stream(model=alias, input=PROMPT) as stream:
        for event in stream:
            if event.type == "response.completed":
                assert ours.responses.retrieve(event.response.id).output_text == event.response.output_text
        final = stream.get_final_response()
    assert len(final.output_text.split()) == 16


def test_structured_output_is_parsed(client: Make) -> None:
    ours, alias = client()
    parsed = ours.responses.parse(model=alias, input=PROMPT, text_format=Place)
    assert parsed.output_parsed == Place(city="Reykjavík", country="Reykjavík")
    with ours.responses.stream(model=alias, input=PROMPT, text_format=Place) as stream:
        assert stream.get_final_response().output_parsed == parsed.output_parsed


@pytest.mark.parametrize("calls", [1, 3])
@pytest.mark.parametrize("streams", [False, True], ids=["json", "stream"])
def test_tools_are_called_in_parallel_and_answered(client: Make, calls: int, streams: bool) -> None:
    ours, alias = client(f"small-1?calls={calls}")
    request: Any = {"model": alias, "input": PROMPT, "tools": [WEATHER], "tool_choice": "auto"}
    if streams:
        with ours.responses.stream(**request) as stream:
            made = stream.get_final_response()
    else:
        made = ours.responses.create(**request)
    assert [item.arguments for item in made.output] == ['{"city":"Reykjavík"}'] * calls
    assert len({item.call_id for item in made.output}) == len({item.id for item in made.output}) == calls
    results = [{"type": "function_call_output", "call_id": item.call_id, "output": "sunny"} for item in made.output]
    answer = ours.responses.create(model=alias, input=results, previous_response_id=made.id, tools=[WEATHER])
    assert len(answer.output_text.split()) == 16


def test_reasoning_is_an_item_of_its_own_and_goes_back_encrypted(client: Make, stage: Stage) -> None:
    ours, alias = client("small-1?reasoning_tokens=9")
    request: Any = {"model": alias, "input": PROMPT, "reasoning": {"effort": "high", "summary": "auto"}}
    include = ["reasoning.encrypted_content"]
    made = ours.responses.create(**request, include=include)
    thought, message = made.output
    assert (thought.type, message.type) == ("reasoning", "message")
    assert made.usage.output_tokens_details.reasoning_tokens == 9
    assert made.usage.output_tokens == 25
    ours.responses.create(model=alias, input="And?", previous_response_id=made.id)
    sent = stage.upstream.ledger.entries[-1].body["input"]
    assert [item.get("encrypted_content") for item in sent if item["type"] == "reasoning"] == ["gAAAA-thoughts"]
    bare = ours.responses.create(**request)
    ours.responses.create(model=alias, input="And?", previous_response_id=bare.id)
    assert "reasoning" not in [item["type"] for item in stage.upstream.ledger.entries[-1].body["input"]]
    with ours.responses.stream(**request) as stream:
        assert stream.get_final_response().usage.output_tokens == 25


@pytest.mark.parametrize("streams", [False, True], ids=["json", "stream"])
def test_a_refusal_is_a_refusal(client: Make, streams: bool) -> None:
    ours, alias = client("small-1?" + urlencode({"refusal": "true", "text": "I cannot help with that."}))
    if streams:
        with ours.responses.stream(model=alias, input=PROMPT) as stream:
            made = stream.get_final_response()
    else:
        made = ours.responses.create(model=alias, input=PROMPT)
    [part] = made.output[0].content
    assert (part.type, part.refusal) == ("refusal", "I cannot help with that.")
    ours.responses.create(model=alias, input="Why?", previous_response_id=made.id)


def test_an_answer_that_is_cut_by_its_limit_is_incomplete(client: Make) -> None:
    ours, alias = client()
    made = ours.responses.create(model=alias, input=PROMPT, max_output_tokens=16 - 13)
    assert (made.status, made.incomplete_details.reason) == ("incomplete", "max_output_tokens")
    events = list(ours.responses.create(model=alias, input=PROMPT, max_output_tokens=3, stream=True))
    assert events[-1].type == "response.incomplete"


def test_log_probabilities_and_images_are_passed_on(client: Make) -> None:
    ours, alias = client(context_tokens=5_000)
    image = {"type": "input_image", "image_url": PNG_URL, "detail": "low"}
    text = {"type": "input_text", "text": PROMPT}
    made = ours.responses.create(
        model=alias,
        input=[{"role": "user", "content": [text, image]}],
        include=["message.output_text.logprobs"],
        top_logprobs=2,
    )
    assert made.output[0].content[0].logprobs[0].logprob == -0.5
    [item] = list(ours.responses.input_items.list(made.id))
    assert item.content[1].image_url == image["image_url"]


def test_a_failed_response_has_our_words_and_is_paid_for(client: Make, stage: Stage) -> None:
    ours, alias = client("small-1?failed=true")
    made = ours.responses.create(model=alias, input=PROMPT)
    assert (made.status, made.error.code, made.error.message) == (
        "failed", "server_error", "The model's provider failed."
    )  # fmt: skip
    events = list(ours.responses.create(model=alias, input=PROMPT, stream=True))
    assert (events[-1].type, events[-1].response.error.message) == ("response.failed", made.error.message)


@pytest.mark.parametrize("model", ["cut-mid-stream", "error-event", "cut-mid-event"])
def test_a_stream_that_breaks_off_raises_the_sdks_own_error(client: Make, model: str) -> None:
    ours, alias = client(model)
    with pytest.raises(openai.APIError) as raised:
        list(ours.responses.create(model=alias, input=PROMPT, stream=True))
    assert raised.value.code == "upstream_error"


def test_a_stream_that_goes_beyond_its_limit_ends_normally(client: Make) -> None:
    ours, alias = client("endless", max_output_tokens=6)
    with ours.responses.stream(model=alias, input=PROMPT) as stream:
        last = list(stream)[-1]
    assert (last.type, last.response.status) == ("response.incomplete", "incomplete")


@pytest.mark.parametrize(
    ("model", "error", "code"),
    [
        ("reject-parameter", openai.BadRequestError, "invalid_request"),
        ("reject-too-large", openai.APIStatusError, "input_too_large"),
        ("unauthorized", openai.InternalServerError, "model_unavailable"),
        ("overloaded", openai.InternalServerError, "upstream_overloaded"),
        ("secret-error", openai.InternalServerError, "upstream_error"),
        ("garbage-json", openai.InternalServerError, "upstream_invalid"),
    ],
)
def test_a_refusal_is_the_sdks_own_exception(
    client: Make, model: str, error: type[openai.APIStatusError], code: str
) -> None:
    ours, alias = client(model)
    with pytest.raises(error) as raised:
        ours.responses.create(model=alias, input=PROMPT)
    assert raised.value.code == code


def test_the_asynchronous_client_does_the_same(stage: Stage) -> None:
    alias, caller = stage.model(max_output_tokens=200), stage.caller(scopes=SCOPES)

    async def talk() -> None:
        async with async_sdk(caller) as ours:
            made = await ours.responses.create(model=alias, input=PROMPT)
            async with ours.responses.stream(model=alias, input="And?", previous_response_id=made.id) as stream:
                final = await stream.get_final_response()
            assert (await ours.responses.retrieve(final.id)).output_text == final.output_text
            parsed = await ours.responses.parse(model=alias, input=PROMPT, text_format=Place)
            assert parsed.output_parsed == Place(city="Reykjavík", country="Reykjavík")
            assert len([item async for item in ours.responses.input_items.list(final.id)]) == 3
            await ours.responses.delete(final.id)
            with pytest.raises(openai.NotFoundError):
                await ours.responses.retrieve(final.id)

    asyncio.run(talk())


def test_the_demo_talks_to_the_sdk_as_well(client: Make, stage: Stage) -> None:
    upstream = stage.upstream_row(adapter="demo", options={"token_seconds": 0})
    ours, alias = client(upstream=upstream)
    with ours.responses.stream(model=alias, input=PROMPT, text_format=Place) as stream:
        assert stream.get_final_response().output_parsed == Place(city="demo", country="demo")
    made = ours.responses.create(model=alias, input="get weather", tools=[WEATHER], tool_choice="required")
    [call] = made.output
    result = [{"type": "function_call_output", "call_id": call.call_id, "output": "sunny"}]
    answer = ours.responses.create(model=alias, input=result, previous_response_id=made.id, tools=[WEATHER])
    assert "sunny" in answer.output_text
