"""A recorded stream of one form becomes, event by event, what the vendor streams in the other."""

from typing import Any

import pytest

from inference.translation.answer import End, Head, MalformedAnswer
from inference.translation.chat import stream_reader as chat_reader
from inference.translation.chat import stream_writer as chat_writer
from inference.translation.events import ArgumentsDelta, CallBegun, Ended, Failed, TextDelta
from inference.translation.responses import stream_reader as responses_reader
from inference.translation.responses import stream_writer as responses_writer
from tests.inference.translation.recordings import RECORDINGS, Recording, chunk, message, numbered, opening

HEAD = Head("resp_01m7yshq1s6zw3kzc8ypm54agq", "fast", 1795256076)
UNIQUE = "01m7yshq1s6zw3kzc8ypm54agq"


def as_responses(chunks: list[dict[str, Any]]) -> list[dict[str, Any]]:
    reader, writer = chat_reader.StreamReader(), responses_writer.StreamWriter(HEAD, {})
    begun = writer.begin()
    events = [written for each in chunks for event in reader.read(each) for written in writer.write(event)]
    return begun + events + writer.finish()


def as_chat(events: list[dict[str, Any]], *, show_usage: bool = True) -> list[dict[str, Any]]:
    reader, writer = responses_reader.StreamReader(), chat_writer.StreamWriter(HEAD, show_usage=show_usage)
    chunks = [written for each in events for event in reader.read(each) for written in writer.write(event)]
    return writer.begin() + chunks + writer.finish()


def bare(value: Any) -> Any:
    """Leave out ids and what an answer says of its call, which the recordings and the writers have of their own."""
    if isinstance(value, list):
        return [bare(each) for each in value]
    if not isinstance(value, dict):
        return value
    shell = {"id", "item_id", "call_id", "created", "model", "service_tier", "created_at", "instructions", "metadata"}
    shell |= {"parallel_tool_calls", "tool_choice", "tools", "temperature", "top_p", "sequence_number"}
    return {name: bare(each) for name, each in value.items() if name not in shell}


@pytest.mark.parametrize("recording", RECORDINGS.values(), ids=RECORDINGS)
def test_a_chat_stream_becomes_the_vendors_typed_events(recording: Recording) -> None:
    assert bare(as_responses(recording.chat)) == bare(recording.responses)


@pytest.mark.parametrize("recording", RECORDINGS.values(), ids=RECORDINGS)
def test_a_responses_stream_becomes_the_vendors_chunks(recording: Recording) -> None:
    assert bare(as_chat(recording.responses)) == bare(recording.chat)


@pytest.mark.parametrize("recording", RECORDINGS.values(), ids=RECORDINGS)
def test_events_are_numbered_from_0_without_a_gap(recording: Recording) -> None:
    numbers = [event["sequence_number"] for event in as_responses(recording.chat)]
    assert numbers == list(range(len(numbers)))


@pytest.mark.parametrize("recording", RECORDINGS.values(), ids=RECORDINGS)
def test_no_id_of_the_upstream_is_left(recording: Recording) -> None:
    text = str(as_responses(recording.chat)) + str(as_chat(recording.responses))
    assert not [
        name for name in ("'resp_1'", "'chatcmpl-1'", "'call_0'", "'msg_0'", "'fc_1'", "small-1") if name in text
    ]
    assert f"'id': '{HEAD.id}'" in text


def test_calls_have_ids_that_no_other_answer_has() -> None:
    items = as_responses(RECORDINGS["calls"].chat)[-1]["response"]["output"]
    assert [(item["id"], item.get("call_id")) for item in items] == [
        (f"msg_{UNIQUE}_0", None),
        (f"fc_{UNIQUE}_1", f"call_{UNIQUE}_0_0"),
        (f"fc_{UNIQUE}_2", f"call_{UNIQUE}_0_1"),
    ]


def test_a_chat_has_a_usage_chunk_only_on_request() -> None:
    chunks = as_chat(RECORDINGS["text"].responses, show_usage=False)
    assert not [each for each in chunks if "usage" in each]
    assert chunks[-1]["choices"][0]["finish_reason"] == "stop"


@pytest.mark.parametrize("step", [1, 0])
def test_several_calls_may_come_in_one_chunk_also_under_one_index(step: int) -> None:
    calls = [
        {
            "index": index * step,
            "id": f"call_{index}",
            "type": "function",
            "function": {"name": "now", "arguments": "{}"},
        }
        for index in range(2)
    ]
    output = as_responses([chunk({"tool_calls": calls}), chunk({}, "tool_calls")])[-1]["response"]["output"]
    assert [(item["name"], item["arguments"]) for item in output] == [("now", "{}"), ("now", "{}")]


def test_arguments_that_come_in_one_piece_are_not_lost() -> None:
    item = {"type": "function_call", "name": "now", "arguments": ""}
    reader = responses_reader.StreamReader()
    assert reader.read({"type": "response.output_item.added", "output_index": 3, "item": item}) == [CallBegun(0, "now")]
    whole = {"type": "response.function_call_arguments.done", "output_index": 3, "arguments": "{}"}
    assert reader.read(whole) == [ArgumentsDelta(0, "{}")]
    assert reader.read(whole) == []


def test_a_summary_of_reasoning_becomes_reasoning_in_chat() -> None:
    delta = {"type": "response.reasoning_summary_text.delta", "output_index": 0, "summary_index": 0, "delta": "Hm."}
    assert as_chat([delta])[1]["choices"][0]["delta"] == {"reasoning_content": "Hm."}


def test_a_stream_without_a_reason_ended_by_itself() -> None:
    assert as_chat([])[-1]["choices"][0]["finish_reason"] == "stop"
    assert as_responses([])[-1]["type"] == "response.completed"


def test_a_limit_that_is_reached_in_a_call_ends_the_call_incomplete() -> None:
    writer = responses_writer.StreamWriter(HEAD, {})
    for event in (CallBegun(0, "now"), ArgumentsDelta(0, "{"), Ended(End.LIMIT)):
        writer.write(event)
    *_, done, last = writer.finish()
    assert done["item"]["status"] == "incomplete"
    assert (last["type"], last["response"]["output"]) == ("response.incomplete", [done["item"]])


def test_a_failure_keeps_what_was_complete() -> None:
    writer = responses_writer.StreamWriter(HEAD, {"tools": []})
    for event in (TextDelta("Hello"), CallBegun(0, "now")):
        writer.write(event)
    (failed,) = writer.fail("server_error", "It broke off.")
    assert (failed["type"], failed["response"]["status"]) == ("response.failed", "failed")
    assert failed["response"]["error"] == {"code": "server_error", "message": "It broke off."}
    assert [item["type"] for item in failed["response"]["output"]] == ["message"]


@pytest.mark.parametrize(
    "error",
    [
        {"error": {"message": "boom", "code": "x"}},
        {"object": "error", "message": "boom", "code": "x"},
        {"error": "boom"},
    ],
)
def test_an_error_in_a_chat_stream_is_a_failure(error: dict[str, Any]) -> None:
    (event,) = chat_reader.StreamReader().read(error)
    assert isinstance(event, Failed)
    assert "boom" in event.cause


@pytest.mark.parametrize(
    "error",
    [
        {"type": "error", "code": "x", "message": "boom"},
        {"error": {"code": "x", "message": "boom"}},
        {"type": "error", "error": {"code": "x", "message": "boom"}},
        {"type": "response.failed", "response": {"error": {"code": "x", "message": "boom"}}},
    ],
)
def test_an_error_in_a_responses_stream_is_a_failure(error: dict[str, Any]) -> None:
    assert responses_reader.StreamReader().read(error) == [Failed("x boom", ("x",))]


@pytest.mark.parametrize(
    "malformed",
    [
        {},
        {"choices": {}},
        {"choices": [7]},
        {"choices": [{"index": 1, "delta": {}}]},
        {"choices": [{"index": 0, "delta": {}}, {"index": 1, "delta": {}}]},
        chunk({"content": 7}),
        chunk({"refusal": []}),
        chunk({"tool_calls": {}}),
        chunk({"tool_calls": [{"index": 0, "function": {"arguments": "{}"}}]}),
        chunk({"tool_calls": [{"index": "0", "function": {"name": "now"}}]}),
        {**chunk({}), "usage": 7},
    ],
)
def test_a_chunk_of_another_shape_is_malformed(malformed: dict[str, Any]) -> None:
    with pytest.raises(MalformedAnswer):
        chat_reader.StreamReader().read(malformed)


@pytest.mark.parametrize(
    "malformed",
    [
        {},
        {"type": 7},
        {"type": "response.output_text.delta", "delta": 7},
        {"type": "response.output_item.added", "output_index": 0, "item": {"type": "web_search_call"}},
        {"type": "response.output_item.added", "output_index": 0, "item": {"type": "function_call"}},
        {"type": "response.function_call_arguments.delta", "output_index": 0, "delta": "{}"},
        {"type": "response.completed"},
        {"type": "response.completed", "response": {"usage": 7}},
    ],
)
def test_an_event_of_another_shape_is_malformed(malformed: dict[str, Any]) -> None:
    with pytest.raises(MalformedAnswer):
        responses_reader.StreamReader().read(malformed)


def test_arguments_for_a_call_that_was_ended_are_malformed() -> None:
    writer = responses_writer.StreamWriter(HEAD, {})
    writer.write(CallBegun(0, "now"))
    writer.write(CallBegun(1, "now"))
    with pytest.raises(MalformedAnswer):
        writer.write(ArgumentsDelta(0, "{}"))


def test_events_that_repeat_others_or_are_new_tell_nothing() -> None:
    events, _ = message(0, ["Hello"])
    known = [each for each in events if not each["type"].endswith(".delta")]
    reader = responses_reader.StreamReader()
    assert [reader.read(each) for each in numbered([*opening(), *known, {"type": "response.novelty"}])] == [[]] * 8
