"""What is read, written and read again means what it meant, within a form and across both."""

from dataclasses import replace
from typing import Any

import orjson
from hypothesis import given, settings

from inference.translation.answer import Answer, Head
from inference.translation.chat import answer_reader as chat_answer_reader
from inference.translation.chat import answer_writer as chat_answer_writer
from inference.translation.chat import request_reader as chat_reader
from inference.translation.chat import request_writer as chat_writer
from inference.translation.chat import stream_reader as chat_stream_reader
from inference.translation.chat import stream_writer as chat_stream_writer
from inference.translation.conversation import Conversation, Form
from inference.translation.events import Event
from inference.translation.items import FunctionCall, Item
from inference.translation.responses import answer_reader as responses_answer_reader
from inference.translation.responses import answer_writer as responses_answer_writer
from inference.translation.responses import request_reader as responses_reader
from inference.translation.responses import request_writer as responses_writer
from inference.translation.responses import stream_reader as responses_stream_reader
from inference.translation.responses import stream_writer as responses_stream_writer
from tests.inference.translation.strategies import answers, conversations, streams

HEAD = Head("chatcmpl_01m7yshq1s6zw3kzc8ypm54agq", "fast", 1795256076)


def wired(body: Any) -> Any:
    """Send a body over the wire, so that what cannot be sent is found out."""
    return orjson.loads(orjson.dumps(body))


def by_chat(conversation: Conversation) -> Conversation:
    return chat_reader.read_request(wired(chat_writer.write_request(conversation)))


def by_responses(conversation: Conversation) -> Conversation:
    return responses_reader.read_request(wired(responses_writer.write_request(conversation)))


@settings(deadline=None)
@given(conversations(Form.CHAT))
def test_a_request_survives_chat(conversation: Conversation) -> None:
    assert by_chat(conversation) == conversation


@settings(deadline=None)
@given(conversations(Form.RESPONSES))
def test_a_request_survives_responses(conversation: Conversation) -> None:
    assert by_responses(conversation) == conversation


@settings(deadline=None)
@given(conversations(Form.CHAT))
def test_a_chat_request_survives_responses(conversation: Conversation) -> None:
    assert by_responses(conversation) == replace(conversation, form=Form.RESPONSES)


@settings(deadline=None)
@given(conversations(Form.RESPONSES))
def test_a_responses_request_survives_chat(conversation: Conversation) -> None:
    assert by_chat(conversation) == replace(conversation, form=Form.CHAT)


@settings(deadline=None)
@given(answers())
def test_an_answer_survives_chat(answer: Answer) -> None:
    written = wired(chat_answer_writer.write_answer(answer, HEAD))
    assert ours(chat_answer_reader.read_answer(written)) == ours(answer)


@settings(deadline=None)
@given(answers())
def test_an_answer_survives_responses(answer: Answer) -> None:
    written = wired(responses_answer_writer.write_answer(answer, HEAD, {}))
    assert ours(responses_answer_reader.read_answer(written)) == ours(answer)


@settings(deadline=None)
@given(streams())
def test_a_stream_survives_chat(events: list[Event]) -> None:
    writer, reader = chat_stream_writer.StreamWriter(HEAD, show_usage=True), chat_stream_reader.StreamReader()
    assert read_back(writer, reader, events) == events


@settings(deadline=None)
@given(streams())
def test_a_stream_survives_responses(events: list[Event]) -> None:
    writer, reader = responses_stream_writer.StreamWriter(HEAD, {}), responses_stream_reader.StreamReader()
    assert read_back(writer, reader, events) == events
    assert reader.is_complete


@settings(deadline=None)
@given(streams())
def test_a_streams_last_event_holds_its_whole_answer(events: list[Event]) -> None:
    """Read what the last event holds, and compare it with what the same stream says as a chat."""
    writer = responses_stream_writer.StreamWriter(HEAD, {})
    writer.begin()
    for event in events:
        writer.write(event)
    whole = responses_answer_reader.read_answer(wired(writer.finish()[-1]["response"]))
    chunks = chat_stream_writer.StreamWriter(HEAD, show_usage=True)
    reader = chat_stream_reader.StreamReader()
    again = responses_stream_writer.StreamWriter(HEAD, {})
    again.begin()
    for event in read_back(chunks, reader, events):
        again.write(event)
    assert responses_answer_reader.read_answer(wired(again.finish()[-1]["response"])) == whole


def read_back(writer: Any, reader: Any, events: list[Event]) -> list[Event]:
    """Write a stream and read it back."""
    written = writer.begin() + [each for event in events for each in writer.write(event)] + writer.finish()
    return [event for each in wired(written) for event in reader.read(each)]


def ours(answer: Answer) -> Answer:
    """Leave out the ids of calls, which every writer makes itself."""
    return replace(answer, items=tuple(map(_without_id, answer.items)))


def _without_id(item: Item) -> Item:
    return replace(item, call_id="") if isinstance(item, FunctionCall) else item
