"""The vendor's official SDK over translated routes: streams, structured answers, a tool loop, and its error classes."""

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from typing import Any
from urllib.parse import urlencode

import openai
import pytest
from pydantic import BaseModel

from tests.inference.routes.sdk import sdk
from tests.support.stage import Stage

PROMPT = "Say something about badgers."
PARAMETERS = {
    "type": "object",
    "properties": {"city": {"type": "string"}},
    "required": ["city"],
    "additionalProperties": False,
}


class Place(BaseModel):
    """What a structured answer is parsed into."""

    city: str
    country: str


Make = Callable[..., tuple[Any, str]]


@pytest.fixture
def client(stage: Stage) -> Iterator[Make]:
    with ExitStack() as opened:

        def make(known: str, model: str = "small-1", **fields: Any) -> tuple[Any, str]:
            ours = opened.enter_context(sdk(stage.caller()))
            upstream = stage.upstream_row(options={"routes": [known]})
            return ours, stage.model(model, upstream=upstream, **{"max_output_tokens": 200, **fields})

        yield make


def test_a_response_stream_of_a_chat_upstream_adds_up(client: Make) -> None:
    ours, alias = client("chat.completions")
    with ours.responses.stream(model=alias, input=PROMPT) as stream:
        text = "".join(event.delta for event in stream if event.type == "response.output_text.delta")
        final = stream.get_final_response()
    assert final.output_text == text
    assert len(text.split()) == final.usage.output_tokens == 16
    assert (final.status, final.model, final.text.format.type) == ("completed", alias, "text")


def test_a_chat_stream_of_a_responses_upstream_adds_up(client: Make) -> None:
    ours, alias = client("responses")
    messages: Any = [{"role": "user", "content": PROMPT}]
    options: Any = {"include_usage": True}
    with ours.chat.completions.stream(model=alias, messages=messages, stream_options=options) as stream:
        text = "".join(event.delta for event in stream if event.type == "content.delta")
        final = stream.get_final_completion()
    assert final.choices[0].message.content == text
    assert len(text.split()) == final.usage.completion_tokens == 16


def test_structured_answers_are_parsed(client: Make) -> None:
    behaviour = {"text": '{"city":"Reykjavík","country":"Reykjavík"}'}
    ours, alias = client("chat.completions", "small-1?" + urlencode(behaviour))
    response = ours.responses.parse(model=alias, input=PROMPT, text_format=Place)
    theirs, other = client("responses")
    messages: Any = [{"role": "user", "content": PROMPT}]
    completion = theirs.chat.completions.parse(model=other, messages=messages, response_format=Place)
    assert (
        response.output_parsed == completion.choices[0].message.parsed == Place(city="Reykjavík", country="Reykjavík")
    )


@pytest.mark.parametrize("streams", [False, True], ids=["json", "stream"])
def test_a_tool_loop_of_responses_runs_at_a_chat_upstream(client: Make, streams: bool) -> None:
    ours, alias = client("chat.completions")
    tool: Any = {"type": "function", "name": "get_weather", "strict": True, "parameters": PARAMETERS}
    request: Any = {"model": alias, "input": PROMPT, "tools": [tool], "store": False}
    if streams:
        with ours.responses.stream(**request) as stream:
            made = stream.get_final_response()
    else:
        made = ours.responses.create(**request)
    [called] = made.output
    assert (called.type, called.arguments) == ("function_call", '{"city":"Reykjavík"}')
    result = {"type": "function_call_output", "call_id": called.call_id, "output": "sunny"}
    history: Any = [{"role": "user", "content": PROMPT}, called, result]
    answer = ours.responses.create(model=alias, input=history, tools=[tool])
    assert len(answer.output_text.split()) == 16


@pytest.mark.parametrize("calls", [1, 3])
@pytest.mark.parametrize("streams", [False, True], ids=["json", "stream"])
def test_a_tool_loop_of_chats_runs_at_a_responses_upstream(client: Make, calls: int, streams: bool) -> None:
    ours, alias = client("responses", f"small-1?calls={calls}")
    tool: Any = {"type": "function", "function": {"name": "get_weather", "strict": True, "parameters": PARAMETERS}}
    messages: Any = [{"role": "user", "content": PROMPT}]
    if streams:
        with ours.chat.completions.stream(model=alias, messages=messages, tools=[tool]) as stream:
            message = stream.get_final_completion().choices[0].message
    else:
        message = ours.chat.completions.create(model=alias, messages=messages, tools=[tool]).choices[0].message
    assert [call.function.arguments for call in message.tool_calls] == ['{"city":"Reykjavík"}'] * calls
    results = [{"role": "tool", "tool_call_id": call.id, "content": "sunny"} for call in message.tool_calls]
    turn = message.model_dump(exclude={"parsed": True, "tool_calls": {"__all__": {"function": {"parsed_arguments"}}}})
    answer = ours.chat.completions.create(model=alias, messages=[*messages, turn, *results], tools=[tool])
    assert len(answer.choices[0].message.content.split()) == 16


def test_a_limit_ends_each_stream_as_the_vendor_does(client: Make) -> None:
    ours, alias = client("chat.completions")
    with ours.responses.stream(model=alias, input=PROMPT, max_output_tokens=4) as stream:
        *_, last = list(stream)
    assert (last.type, last.response.incomplete_details.reason) == ("response.incomplete", "max_output_tokens")
    theirs, other = client("responses")
    messages: Any = [{"role": "user", "content": PROMPT}]
    with pytest.raises(openai.LengthFinishReasonError):
        theirs.chat.completions.parse(model=other, messages=messages, response_format=Place, max_completion_tokens=1)


@pytest.mark.parametrize("preset", ["error-event", "cut-mid-stream"])
def test_a_stream_that_breaks_off_raises_the_sdks_own_error(client: Make, preset: str) -> None:
    ours, alias = client("chat.completions", preset)
    with pytest.raises(openai.APIError):
        list(ours.responses.create(model=alias, input=PROMPT, stream=True))
    theirs, other = client("responses", preset)
    messages: Any = [{"role": "user", "content": PROMPT}]
    with pytest.raises(openai.APIError):
        list(theirs.chat.completions.create(model=other, messages=messages, stream=True))


def test_what_cannot_be_translated_is_a_bad_request_with_its_param(client: Make) -> None:
    ours, alias = client("responses")
    messages: Any = [{"role": "user", "content": PROMPT}]
    with pytest.raises(openai.BadRequestError) as refused:
        ours.chat.completions.create(model=alias, messages=messages, n=2)
    assert refused.value.param == "n"
