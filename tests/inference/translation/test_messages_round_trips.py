"""Messages: what is written, read and written again means what it meant, alone and by way of chats and responses."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import orjson
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gateway.core.contract.errors import InvalidRequest
from inference.translation.answer import Answer, End, Head, MalformedAnswer, Usage
from inference.translation.conversation import Conversation, Form, TextFormat, ToolChoice
from inference.translation.events import ArgumentsDelta, CallBegun, Ended, Event, ReasoningDelta, Reported, TextDelta
from inference.translation.items import (
    File,
    FunctionCall,
    FunctionOutput,
    Image,
    Item,
    Message,
    Part,
    Reasoning,
    Text,
)
from inference.translation.messages import answer_reader, answer_writer
from inference.translation.messages.request_reader import read_request
from inference.translation.messages.request_writer import write_request
from inference.translation.messages.stream_reader import StreamReader
from inference.translation.messages.stream_writer import StreamWriter
from tests.inference.translation.strategies import counts, functions, names, schemas, some, words
from tests.inference.translation.test_round_trips import by_chat, by_responses, ours, read_back, wired

HEAD = Head("msg_01m7yshq1s6zw3kzc8ypm54agq", "fast", 0)
PNG = "data:image/png;base64,iVBORw0KGgo="

texts: st.SearchStrategy[Part] = st.builds(Text, words)
parts = (
    texts
    | st.sampled_from([Image(PNG), Image("https://example.com/a.png")])
    | st.builds(File, data=st.just("data:application/pdf;base64,JVBERi0="), filename=words)
)
arguments = schemas.map(lambda value: orjson.dumps(value).decode())
reasoning = st.builds(Reasoning, words, signature=words) | st.builds(Reasoning, encrypted=words)
choices = (
    st.builds(ToolChoice, st.sampled_from(["auto", "required"]))
    | st.just(ToolChoice("none"))
    | st.builds(ToolChoice, st.just("required"), names)
)


def _some_parts(strategy: st.SearchStrategy[Part]) -> st.SearchStrategy[tuple[Part, ...]]:
    return st.lists(strategy, min_size=1, max_size=3).map(tuple)


@st.composite
def turns(draw: Callable[..., Any], *, thinks: bool) -> list[Item]:
    """Make what a person says and the assistant answers, with calls and their outputs."""
    items: list[Item] = [Message("user", draw(_some_parts(parts)))]
    said: list[Item] = [draw(reasoning)] if thinks and draw(st.booleans()) else []
    calls = draw(st.lists(st.builds(FunctionCall, words, names, arguments), max_size=2))
    if draw(st.booleans()) or not calls:
        said.append(Message("assistant", draw(_some_parts(texts))))
    outputs = [FunctionOutput(call.call_id, draw(_some_parts(texts))) for call in calls]
    return [*items, *said, *calls, *outputs]


@st.composite
def conversations(draw: Callable[..., Any], *, thinks: bool = True, stops: bool = True) -> Conversation:
    """Make what Messages can say."""
    lists = draw(st.lists(turns(thinks=thinks), min_size=1, max_size=3))
    shared = draw(
        st.fixed_dictionaries({}, optional={"temperature": st.floats(0, 1), "top_p": st.floats(0, 1), "user": words})
    )
    choice = draw(some(choices))
    if choice is not None and choice.mode != "none" and draw(st.booleans()):
        shared["parallel_tool_calls"] = False
    shape = TextFormat("json_schema", "answer", None, draw(schemas), True)
    return Conversation(
        form=Form.MESSAGES,
        items=tuple(item for each in lists for item in each),
        instructions=draw(some(words)),
        tools=tuple(draw(st.lists(functions.filter(lambda function: function.parameters is not None), max_size=2))),
        tool_choice=choice,
        text_format=draw(some(st.just(shape))),
        effort=draw(some(st.sampled_from(["low", "high"]))),
        output_limit=draw(counts),
        stop=tuple(draw(st.lists(words, max_size=2))) if stops else (),
        shared=shared,
    )


def by_messages(conversation: Conversation) -> Conversation:
    return read_request(wired(write_request(conversation)))


@settings(deadline=None)
@given(conversations())
def test_a_request_survives_messages(conversation: Conversation) -> None:
    assert by_messages(conversation) == conversation


@settings(deadline=None)
@given(conversations(thinks=False))
def test_a_request_survives_the_way_through_a_chat(conversation: Conversation) -> None:
    assert by_messages(by_chat(conversation)) == conversation


@settings(deadline=None)
@given(conversations(thinks=False, stops=False))
def test_a_request_survives_the_way_through_a_response(conversation: Conversation) -> None:
    again = by_messages(by_responses(conversation))
    assert replace(again, items=_plain(again)) == replace(conversation, items=_plain(conversation))


def _plain(conversation: Conversation) -> tuple[Item, ...]:
    """Leave out the detail of images, which responses always state."""
    return tuple(
        replace(
            item, parts=tuple(replace(part, detail=None) if isinstance(part, Image) else part for part in item.parts)
        )
        if isinstance(item, Message)
        else item
        for item in conversation.items
    )


usages = st.builds(
    Usage,
    input_tokens=st.integers(20_000, 30_000),
    output_tokens=counts,
    cached_tokens=counts,
    cache_write_tokens=counts,
)


@st.composite
def answers(draw: Callable[..., Any]) -> Answer:
    """Make an answer: thinking, texts, calls."""
    items: list[Item] = draw(st.lists(reasoning, max_size=1))
    items += [Message("assistant", (text,)) for text in draw(st.lists(texts, max_size=2))]
    items += draw(st.lists(st.builds(FunctionCall, words, names, arguments), max_size=2))
    end = draw(st.sampled_from(End))
    has_calls = any(isinstance(item, FunctionCall) for item in items)
    stop = draw(some(words)) if end is End.DONE and not has_calls else None
    return Answer(tuple(items), end, draw(some(usages)), None, stop)


@settings(deadline=None)
@given(answers())
def test_an_answer_survives_messages(answer: Answer) -> None:
    assert ours(answer_reader.read_answer(wired(answer_writer.write_answer(answer, HEAD)))) == ours(answer)


@st.composite
def streams(draw: Callable[..., Any]) -> list[Event]:
    """Make a stream's events."""
    events: list[Event] = draw(st.lists(st.builds(ReasoningDelta, words), max_size=3))
    events += draw(st.lists(st.builds(TextDelta, words), max_size=5))
    for index in range(draw(st.integers(0, 3))):
        events.append(CallBegun(index, draw(names)))
        events += [ArgumentsDelta(index, text) for text in draw(st.lists(words, max_size=3))]
    events.append(Ended(draw(st.sampled_from(End))))
    return [*events, Reported(draw(usages))]


@settings(deadline=None)
@given(streams())
def test_a_stream_survives_messages(events: list[Event]) -> None:
    reader = StreamReader()
    assert read_back(StreamWriter(HEAD), reader, events) == events
    assert reader.is_complete


@pytest.mark.parametrize(
    ("body", "param"),
    [
        ({"top_k": 5}, "top_k"),
        ({"context_management": {"edits": [{"type": "clear_tool_uses_20250919"}]}}, "context_management"),
        ({"context_management": {"edits": [{"type": "clear_thinking_20251015", "keep": 1}]}}, "context_management"),
        ({"messages": [{"role": "user", "content": [{"type": "search_result"}]}]}, "messages.0.content.0.type"),
        ({"tools": [{"type": "bash_20250124", "name": "bash"}]}, "tools.0.type"),
        ({"output_config": {"format": {"type": "other"}}}, "output_config.format.type"),
        ({"stop_sequences": "x"}, "stop_sequences"),
        ({"tool_choice": {"type": "some"}}, "tool_choice.type"),
    ],
)
def test_what_a_chat_cannot_say_is_refused_by_its_path(body: dict[str, Any], param: str) -> None:
    whole = {"messages": [{"role": "user", "content": "hi"}], **body}
    with pytest.raises(InvalidRequest) as refused:
        by_chat(read_request(whole))
    assert refused.value.param == param


def test_arguments_of_an_earlier_call_are_refused() -> None:
    for later in (CallBegun(1, "g"), TextDelta("x"), ReasoningDelta("x")):
        writer = StreamWriter(HEAD)
        writer.write(CallBegun(0, "f"))
        writer.write(later)
        with pytest.raises(MalformedAnswer):
            writer.write(ArgumentsDelta(0, "{}"))


def test_empty_texts_are_left_out() -> None:
    body = {
        "messages": [
            {"role": "user", "content": [{"type": "text", "text": ""}, {"type": "text", "text": "hi"}]},
            {"role": "assistant", "content": ""},
            {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "t", "content": ""}]},
        ]
    }
    [message] = write_request(read_request(body))["messages"]
    result = {"type": "tool_result", "tool_use_id": "t", "content": []}
    assert message == {"role": "user", "content": [{"type": "text", "text": "hi"}, result]}


def test_a_budget_of_thinking_is_an_effort() -> None:
    def effort(**members: Any) -> Any:
        return read_request({"messages": [{"role": "user", "content": "hi"}], **members}).effort

    budgets = {budget: effort(thinking={"type": "enabled", "budget_tokens": budget}) for budget in (1024, 5000, 30_000)}
    assert budgets == {1024: "low", 5000: "medium", 30_000: "high"}
    assert effort(thinking={"type": "adaptive"}, output_config={"effort": "max"}) == "max"
    assert effort(thinking={"type": "disabled"}) is None
