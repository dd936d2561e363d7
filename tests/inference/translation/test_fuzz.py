"""Whatever stands in a request, an answer or an event: it is translated, or refused by the one error that there is for it."""

from collections.abc import Iterator
from contextlib import suppress
from copy import deepcopy
from typing import Any

import orjson
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gateway.core.contract.errors import InvalidRequest
from inference.routes.messages.events import events_of
from inference.translation.answer import Head, MalformedAnswer
from inference.translation.chat import answer_reader as chat_answers
from inference.translation.chat import answer_writer as chat_answer_writer
from inference.translation.chat import request_reader as chat_reader
from inference.translation.chat import request_writer as chat_writer
from inference.translation.chat import stream_reader as chat_streams
from inference.translation.chat import stream_writer as chat_stream_writer
from inference.translation.messages import answer_reader as message_answers
from inference.translation.messages import answer_writer as message_answer_writer
from inference.translation.messages import request_reader as message_reader
from inference.translation.messages import request_writer as message_writer
from inference.translation.messages import stream_reader as message_streams
from inference.translation.messages import stream_writer as message_stream_writer
from inference.translation.responses import answer_reader as responses_answers
from inference.translation.responses import answer_writer as responses_answer_writer
from inference.translation.responses import request_reader as responses_reader
from inference.translation.responses import request_writer as responses_writer
from inference.translation.responses import stream_reader as responses_streams
from inference.translation.responses import stream_writer as responses_stream_writer
from tests.inference.translation.documents import CHAT_REQUEST, MESSAGES_REQUEST, RESPONSES_REQUEST
from tests.inference.translation.recordings import RECORDINGS, whole_chat

HEAD = Head("resp_01m7yshq1s6zw3kzc8ypm54agq", "fast", 1795256076)
# The parser keeps longer integers as they are written.
scalars = st.none() | st.booleans() | st.integers(-1, 2**64 - 1) | st.floats(allow_nan=False) | st.text(max_size=5)
values = st.recursive(
    scalars,
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.text(max_size=5), inner, max_size=2),
    max_leaves=4,
)


def places(value: Any, at: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Yield the path of everything within a document."""
    pairs = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for name, each in pairs:
        yield (*at, name)
        yield from places(each, (*at, name))


def changed(document: Any, place: tuple[Any, ...], value: Any) -> Any:
    """Return a copy with another value at one place."""
    document = deepcopy(document)
    inner = document
    for name in place[:-1]:
        inner = inner[name]
    inner[place[-1]] = value
    return document


def within(document: dict[str, Any], *names: str) -> dict[str, Any]:
    """Return the members of a request that messages can express."""
    return {name: document[name] for name in names}


REQUESTS = {
    "chat": (chat_reader.read_request, responses_writer.write_request, CHAT_REQUEST),
    "responses": (responses_reader.read_request, chat_writer.write_request, RESPONSES_REQUEST),
    "messages as chat": (message_reader.read_request, chat_writer.write_request, MESSAGES_REQUEST),
    "messages as responses": (message_reader.read_request, responses_writer.write_request, MESSAGES_REQUEST),
    "chat as messages": (
        chat_reader.read_request,
        message_writer.write_request,
        within(CHAT_REQUEST, "messages", "tools", "tool_choice", "parallel_tool_calls", "response_format"),
    ),
    "responses as messages": (
        responses_reader.read_request,
        message_writer.write_request,
        within(RESPONSES_REQUEST, "input", "tools", "tool_choice", "parallel_tool_calls"),
    ),
}


def test_what_is_changed_is_translated_as_it_is() -> None:
    assert all(write(read(body)) for read, write, body in REQUESTS.values())


@pytest.mark.parametrize(("read", "write", "request_body"), REQUESTS.values(), ids=REQUESTS)
@settings(deadline=None, max_examples=400)
@given(data=st.data(), value=values)
def test_a_request_is_translated_or_refused(read: Any, write: Any, request_body: Any, data: Any, value: Any) -> None:
    place = data.draw(st.sampled_from(list(places(request_body))))
    with suppress(InvalidRequest):
        written = write(read(changed(request_body, place, value)))
        with suppress(TypeError):  # an integer beyond 64 bits, which the route refuses
            orjson.dumps(written)


MESSAGE: dict[str, Any] = {
    "id": "msg_1",
    "type": "message",
    "role": "assistant",
    "model": "m",
    "content": [
        {"type": "thinking", "thinking": "Hm.", "signature": "s"},
        {"type": "redacted_thinking", "data": "d"},
        {"type": "text", "text": "Hello", "citations": None},
        {"type": "tool_use", "id": "toolu_1", "name": "weather", "input": {"city": "Rome"}},
    ],
    "stop_reason": "tool_use",
    "stop_sequence": None,
    "usage": {
        "input_tokens": 10,
        "cache_creation_input_tokens": 4,
        "cache_read_input_tokens": 3,
        "cache_creation": {"ephemeral_5m_input_tokens": 1, "ephemeral_1h_input_tokens": 3},
        "output_tokens": 5,
        "output_tokens_details": {"thinking_tokens": 2},
        "service_tier": "standard",
        "server_tool_use": {"web_search_requests": 0},
    },
}


def as_chat(answer: Any, head: Head, _: Any) -> Any:
    return chat_answer_writer.write_answer(answer, head)


def as_message(answer: Any, head: Head, _: Any) -> Any:
    return message_answer_writer.write_answer(answer, head)


ANSWERS = [
    (message_answers.read_answer, as_chat, MESSAGE),
    (message_answers.read_answer, responses_answer_writer.write_answer, MESSAGE),
    *((chat_answers.read_answer, as_message, whole_chat(each)) for each in RECORDINGS.values()),
    *((responses_answers.read_answer, as_message, each.responses[-1]["response"]) for each in RECORDINGS.values()),
    *(
        (chat_answers.read_answer, responses_answer_writer.write_answer, whole_chat(each))
        for each in RECORDINGS.values()
    ),
    *(
        (responses_answers.read_answer, lambda answer, head, _: chat_answer_writer.write_answer(answer, head), whole)
        for whole in (each.responses[-1]["response"] for each in RECORDINGS.values())
    ),
]


@pytest.mark.parametrize(("read", "write", "answer"), ANSWERS)
@settings(deadline=None, max_examples=60)
@given(data=st.data(), value=values)
def test_an_answer_is_translated_or_malformed(read: Any, write: Any, answer: Any, data: Any, value: Any) -> None:
    place = data.draw(st.sampled_from(list(places(answer))))
    with suppress(MalformedAnswer):
        write(read(changed(answer, place, value)), HEAD, {})


MESSAGE_EVENTS = list(events_of(MESSAGE))
WRITERS: Any = {
    "chat": lambda: chat_stream_writer.StreamWriter(HEAD, show_usage=True),
    "responses": lambda: responses_stream_writer.StreamWriter(HEAD, {}),
    "messages": lambda: message_stream_writer.StreamWriter(HEAD),
}
STREAMS = [
    *((chat_streams.StreamReader, each.chat, "responses") for each in RECORDINGS.values()),
    *((responses_streams.StreamReader, each.responses, "chat") for each in RECORDINGS.values()),
    *((chat_streams.StreamReader, each.chat, "messages") for each in RECORDINGS.values()),
    *((responses_streams.StreamReader, each.responses, "messages") for each in RECORDINGS.values()),
    *((message_streams.StreamReader, MESSAGE_EVENTS, form) for form in WRITERS),
]


@pytest.mark.parametrize(("reader_class", "sent", "form"), STREAMS)
@settings(deadline=None, max_examples=60)
@given(data=st.data(), value=values)
def test_a_stream_is_translated_or_malformed(reader_class: Any, sent: Any, form: str, data: Any, value: Any) -> None:
    place = data.draw(st.sampled_from(list(places(sent))))
    reader, writer = reader_class(), WRITERS[form]()
    writer.begin()
    with suppress(MalformedAnswer):
        for each in changed(sent, place, value):
            if isinstance(each, dict):  # the endpoint has refused anything else
                for event in reader.read(each):
                    writer.write(event)
        writer.finish()
