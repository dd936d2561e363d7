"""Tools with the vendor's own SDK, at an upstream of each form: loops of several rounds, parallel uses, and what goes wrong."""

import asyncio
from typing import Any

import anthropic
import pytest
from anthropic.lib.tools import ToolError

from tests.inference.routes.anthropic_sdk import async_sdk, sdk
from tests.inference.routes.test_messages import FORMS
from tests.inference.routes.test_messages_with_the_anthropic_sdk import MESSAGES, TEXT, WEATHER, call_of
from tests.support.stage import Stage

CLOCK: Any = {"name": "clock", "input_schema": {"type": "object"}}


@pytest.fixture(params=FORMS, name="form")
def _form(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture(params=[False, True], ids=["json", "stream"], name="streams")
def _streams(request: pytest.FixtureRequest) -> bool:
    return bool(request.param)


def ask(client: Any, call: dict[str, Any], *, streams: bool) -> Any:
    """Return a message, whole or put together from a stream."""
    if not streams:
        return client.messages.create(**call)
    with client.messages.stream(**call) as stream:
        return stream.get_final_message()


def results_for(uses: Any) -> Any:
    """Return a turn with a result of each kind: a text, blocks, an error, and nothing."""
    contents: list[dict[str, Any]] = [
        {"content": "rain"},
        {"content": [{"type": "text", "text": "rain"}, {"type": "text", "text": "wind"}]},
        {"content": "The weather station is closed.", "is_error": True},
        {},
    ]
    results = [
        {"type": "tool_result", "tool_use_id": use.id, **content} for use, content in zip(uses, contents, strict=True)
    ]
    return {"role": "user", "content": results}


def test_a_loop_of_several_rounds_with_parallel_uses(stage: Stage, form: str, streams: bool) -> None:
    caller = stage.caller()
    call = call_of(stage, form, "small-1?tokens=4&calls=4", tools=[WEATHER, CLOCK])
    turns, ids = [*MESSAGES], set()
    with sdk(caller) as client:
        for _ in range(2):
            used = ask(client, {**call, "messages": turns}, streams=streams)
            assert used.stop_reason == "tool_use"
            assert [(use.name, use.input) for use in used.content] == [("weather", {"place": "Reykjavík"})] * 4
            ids |= {use.id for use in used.content}
            turns += [{"role": "assistant", "content": used.content}, results_for(used.content)]
            answered = ask(client, {**call, "messages": turns}, streams=streams)
            assert (answered.stop_reason, answered.content[0].text) == ("end_turn", TEXT)
            turns += [{"role": "assistant", "content": answered.content}, *MESSAGES]
    assert len(ids) == 8
    assert [made.state for made in caller.calls] == ["settled"] * 4
    sent = str(stage.upstream.ledger.entries[-1].body)
    assert all(sent.count(name) == 2 for name in ids)
    assert "The weather station is closed." in sent


def test_arguments_grow_until_they_are_whole(stage: Stage, form: str) -> None:
    call = call_of(stage, form, tools=[WEATHER])
    with sdk(stage.caller()) as client, client.messages.stream(**call) as stream:
        pieces = [event for event in stream if event.type == "input_json"]
        [use] = stream.get_final_message().content
    assert "".join(piece.partial_json for piece in pieces).replace(" ", "") == '{"place":"Reykjavík"}'
    assert pieces[-1].snapshot == use.input == {"place": "Reykjavík"}


@pytest.mark.parametrize(
    ("choice", "reason"),
    [
        ({"type": "auto", "disable_parallel_tool_use": True}, "tool_use"),
        ({"type": "any"}, "tool_use"),
        ({"type": "tool", "name": "weather"}, "tool_use"),
        ({"type": "none"}, "end_turn"),
    ],
    ids=["auto", "any", "tool", "none"],
)
def test_each_choice_of_tools(stage: Stage, form: str, choice: Any, reason: str) -> None:
    with sdk(stage.caller()) as client:
        message = client.messages.create(**call_of(stage, form, tools=[WEATHER], tool_choice=choice))
    assert message.stop_reason == reason


def test_the_sdks_runner_calls_functions_until_there_are_words(stage: Stage, form: str) -> None:
    @anthropic.beta_tool
    def weather(place: str) -> str:
        """Tell the weather.

        Args:
            place: Where.
        """
        return f"Rain in {place}."

    with sdk(stage.caller()) as client:
        runner = client.beta.messages.tool_runner(**call_of(stage, form), tools=[weather])
        assert runner.until_done().content[0].text == TEXT
    assert "Rain in Reykjavík." in str(stage.upstream.ledger.entries[1].body)


def test_the_asynchronous_runner_streams_and_reports_a_function_that_fails(stage: Stage, form: str) -> None:
    @anthropic.beta_async_tool
    async def weather(place: str) -> str:
        """Tell the weather.

        Args:
            place: Where.
        """
        raise ToolError(f"No station in {place}.")

    caller, call = stage.caller(), call_of(stage, form)

    async def run() -> Any:
        async with async_sdk(caller) as client:
            runner = client.beta.messages.tool_runner(**call, tools=[weather], stream=True)
            return [await stream.get_final_message() async for stream in runner]

    used, answered = asyncio.run(run())
    assert (used.stop_reason, answered.stop_reason) == ("tool_use", "end_turn")
    assert "No station in Reykjavík." in str(stage.upstream.ledger.entries[1].body)
