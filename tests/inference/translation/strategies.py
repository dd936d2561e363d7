"""Conversations, answers and streams as hypothesis makes them: everything that both forms can say."""

from collections.abc import Callable
from typing import Any

from hypothesis import strategies as st

from inference.translation.answer import Answer, End, Usage
from inference.translation.conversation import Conversation, Form, Function, TextFormat, ToolChoice
from inference.translation.events import (
    ArgumentsDelta,
    CallBegun,
    Ended,
    Event,
    ReasoningDelta,
    RefusalDelta,
    Reported,
    TextDelta,
)
from inference.translation.items import (
    File,
    FunctionCall,
    FunctionOutput,
    Image,
    Item,
    Message,
    Part,
    Reasoning,
    Refusal,
    Text,
)

words = st.text(min_size=1, max_size=12)
names = st.text("abcdefghijklmnopqrstuvwxyz_", min_size=1, max_size=8)
schemas = st.dictionaries(names, st.one_of(words, st.integers(0, 9), st.booleans()), max_size=3)
counts = st.integers(0, 10_000)
logprobs = st.lists(st.fixed_dictionaries({"token": words, "logprob": st.just(-0.5)}), min_size=1, max_size=2)


def some(strategy: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    """Make a value or none."""
    return st.none() | strategy


texts: st.SearchStrategy[Part] = st.builds(Text, words)
put_in: st.SearchStrategy[Part] = (
    texts
    | st.builds(Image, words, st.sampled_from(["auto", "low", "high"]))
    | st.builds(File, data=words, filename=some(words))
)
spoken: st.SearchStrategy[Part] = texts | st.builds(Refusal, words)


def _parts(strategy: st.SearchStrategy[Part]) -> st.SearchStrategy[tuple[Part, ...]]:
    return st.lists(strategy, max_size=3).map(tuple)


_instructions = st.builds(Message, st.sampled_from(["system", "developer"]), _parts(texts)) | st.builds(
    Message, st.just("user"), _parts(put_in)
)


@st.composite
def turns(draw: Callable[..., Any]) -> list[Item]:
    """Make what an assistant said and called, and what its functions gave back."""
    items: list[Item] = []
    calls = draw(st.lists(st.builds(FunctionCall, words, names, words), max_size=3))
    parts = draw(_parts(spoken))
    if not (parts or calls):  # an empty message before another turn's call is a part of that turn in a chat
        parts = (draw(spoken),)
    if parts:
        items.append(Message("assistant", parts))
    items += calls
    items += [FunctionOutput(call.call_id, draw(_parts(texts))) for call in calls]
    return items


items = st.lists(_instructions.map(lambda message: [message]) | turns(), min_size=1, max_size=4).map(
    lambda lists: tuple(item for each in lists for item in each)
)
functions = st.builds(Function, names, some(words), some(schemas), st.booleans())
choices = (
    st.builds(ToolChoice, st.sampled_from(["none", "auto", "required"]))
    | st.builds(ToolChoice, st.just("required"), names)
    | st.builds(ToolChoice, st.sampled_from(["auto", "required"]), st.none(), st.lists(names, max_size=2).map(tuple))
)
formats = st.builds(TextFormat, st.sampled_from(["text", "json_object"])) | st.builds(
    TextFormat, st.just("json_schema"), names, some(words), schemas, some(st.booleans())
)
shared = st.fixed_dictionaries(
    {},
    optional={
        "temperature": st.floats(0, 2),
        "top_p": st.floats(0, 1),
        "parallel_tool_calls": st.booleans(),
        "user": words,
        "prompt_cache_key": words,
    },
)


def conversations(form: Form) -> st.SearchStrategy[Conversation]:
    """Make what both forms can say, as if it were read from one of them."""
    return st.builds(
        Conversation,
        form=st.just(form),
        items=items,
        instructions=st.none(),
        tools=st.lists(functions, max_size=2).map(tuple),
        tool_choice=some(choices),
        text_format=some(formats),
        verbosity=some(st.sampled_from(["low", "high"])),
        effort=some(st.sampled_from(["minimal", "high"])),
        output_limit=some(counts),
        top_logprobs=some(st.integers(0, 5)),
        metadata=st.none(),
        shared=shared,
    )


usages = st.builds(
    Usage,
    input_tokens=counts,
    output_tokens=counts,
    total_tokens=counts,
    cached_tokens=counts,
    reasoning_tokens=counts,
)


@st.composite
def answers(draw: Callable[..., Any]) -> Answer:
    """Make an answer as chat completions can hold one: reasoning, then one message, then calls."""
    content: list[Item] = [Reasoning(draw(words))] if draw(st.booleans()) else []
    text, refusal = draw(some(words)), draw(some(words))
    parts: list[Part] = [Text(text, draw(some(logprobs)))] if text else []
    parts += [Refusal(refusal)] if refusal else []
    if parts:
        content.append(Message("assistant", tuple(parts)))
    content += draw(st.lists(st.builds(FunctionCall, words, names, words), max_size=3))
    return Answer(tuple(content), draw(st.sampled_from(End)), draw(some(usages)))


@st.composite
def streams(draw: Callable[..., Any]) -> list[Event]:
    """Make a stream's events, in the order in which chat completions can tell them."""
    events: list[Event] = draw(st.lists(st.builds(ReasoningDelta, words), max_size=3))
    events += draw(st.lists(st.builds(TextDelta, words, some(logprobs)), max_size=5))
    events += draw(st.lists(st.builds(RefusalDelta, words), max_size=2))
    for index in range(draw(st.integers(0, 3))):
        events.append(CallBegun(index, draw(names)))
        events += [ArgumentsDelta(index, text) for text in draw(st.lists(words, max_size=3))]
    events.append(Ended(draw(st.sampled_from(End))))
    return [*events, Reported(draw(usages))]
