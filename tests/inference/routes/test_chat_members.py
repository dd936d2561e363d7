"""What a chat request may not ask for within its members, and how parts and earlier calls are held for."""

import math
from typing import Any

import pytest

from gateway.core.json.pieces import canonical
from inference.routes.chat.members import INSIDE
from tests.inference.routes.chat_member_table import AUDIO_INPUT, AUDIO_PRICE, CHAT_TABLE
from tests.inference.routes.member_table import INPUT, LIMIT, OUTPUT, PNG, assert_refused
from tests.support.stage import MESSAGES, Stage, chat

ask = CHAT_TABLE.ask


@pytest.mark.parametrize(
    ("members", "param"),
    [
        ({"modalities": ["text", "audio"]}, "modalities"),
        ({"audio": {"voice": "alloy", "format": "wav"}}, "modalities"),
        ({"modalities": ["text", "video"]}, "modalities"),
        ({"modalities": []}, "modalities"),
        ({"modalities": "text"}, "modalities"),
        ({"modalities": [["text"]]}, "modalities"),
        ({"audio": []}, "audio"),
        ({"audio": {"format": "wav"}}, "audio.voice"),
        ({"prediction": {"type": "content"}}, "prediction.content"),
        ({"prediction": []}, "prediction.content"),
        ({"prediction": {"content": ["x"]}}, "prediction.content"),
        ({"prediction": {"content": [{"type": "image_url", "text": "x"}]}}, "prediction.content"),
    ],
)
def test_what_has_no_price_or_no_sense_is_refused(stage: Stage, members: Any, param: str) -> None:
    caller, answer, _ = ask(stage, **members)
    assert_refused(stage, caller, answer, param)


@pytest.mark.parametrize(("name", "value"), [("max_output_tokens", 10_000), ("store", 0), ("store", 0.0)])
def test_a_limit_of_another_route_and_a_number_for_false_are_refused(stage: Stage, name: str, value: Any) -> None:
    caller, answer, _ = ask(stage, AUDIO_PRICE, **{name: value})
    assert_refused(stage, caller, answer, name)


INSIDE_REFUSED: dict[str, tuple[dict[str, Any], str]] = {
    "audio.voice.id": ({"audio": {"voice": {"id": "voice_1"}, "format": "wav"}}, "audio.voice"),
    "messages.audio": ({"messages": [*MESSAGES, {"role": "assistant", "audio": {"id": "a"}}]}, "messages.1.audio"),
    "messages.role": ({"messages": [{"content": "x"}]}, "messages.0.role"),
    "tools.type": ({"tools": [{"type": "web_search"}]}, "tools.0.type"),
    "prediction.content": ({"prediction": {"type": "content", "content": 7}}, "prediction.content"),
}
IN_TEST_PROMPT_CACHING = {"messages.content.cache_control", "messages.content.prompt_cache_breakpoint"}
PARTS_REFUSED: dict[str, tuple[dict[str, Any], str]] = {
    "uuid": ({"type": "image_url", "image_url": {"url": PNG}, "uuid": "one"}, "uuid"),
    "video_url": ({"type": "text", "text": "x", "video_url": {"url": "https://a.example/v"}}, "video_url"),
    "file.file_id": ({"type": "file", "file": {"file_id": "file-1"}}, "file.file_id"),
    "file.file_data": ({"type": "file", "file": {"file_data": "https://files.example/a.pdf"}}, "file.file_data"),
    "type": ({"type": "video_url", "video_url": {"url": "https://videos.example/a"}}, "type"),
}
PARTS_BOUNDED: dict[str, Any] = {
    "image_url": {"type": "image_url", "image_url": {"url": PNG, "detail": "low"}},
    "input_audio": {"type": "input_audio", "input_audio": {"data": "AAAA", "format": "wav"}},
    "file.file_data": {"type": "file", "file": {"file_data": "data:application/pdf;base64,AAAA", "filename": "a.pdf"}},
}


def in_a_message(part: Any) -> dict[str, Any]:
    return {"messages": [{"role": "user", "content": [{"type": "text", "text": "see"}, part]}]}


@pytest.mark.parametrize("name", sorted(INSIDE_REFUSED))
def test_a_refused_member_within_another_is_named(stage: Stage, name: str) -> None:
    members, param = INSIDE_REFUSED[name]
    caller, answer, _ = ask(stage, AUDIO_PRICE, **members)
    assert_refused(stage, caller, answer, param)


@pytest.mark.parametrize("name", sorted(PARTS_REFUSED))
def test_a_refused_part_is_named(stage: Stage, name: str) -> None:
    part, member = PARTS_REFUSED[name]
    caller, answer, _ = ask(stage, AUDIO_PRICE, **in_a_message(part))
    assert_refused(stage, caller, answer, f"messages.0.content.1.{member}")


@pytest.mark.parametrize("name", sorted(PARTS_BOUNDED))
def test_a_bounded_part_is_held_for_as_the_context(stage: Stage, name: str) -> None:
    part = PARTS_BOUNDED[name]
    alias = stage.model(max_output_tokens=LIMIT, context_tokens=2000, price=AUDIO_PRICE)
    caller = stage.caller()
    body = chat(alias, **in_a_message(part))
    assert caller.post(body).status_code == 200
    highest = AUDIO_INPUT if name == "input_audio" else INPUT
    assert caller.only_call.hold_microusd == math.ceil(2000 * highest + LIMIT * OUTPUT)
    assert stage.upstream.ledger.entries[0].body["messages"] == body["messages"]


def test_tool_calls_of_an_earlier_answer_are_input(stage: Stage) -> None:
    call = {"id": "call_1", "type": "function", "function": {"name": "weather", "arguments": '{"city": "Oslo"}'}}
    turns = [
        {"role": "assistant", "content": None, "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "call_1", "content": "rain"},
    ]
    caller, answer, body = ask(stage, messages=[*MESSAGES, *turns])
    assert answer.status_code == 200
    assert caller.only_call.hold_microusd == math.ceil(len(canonical(body)) * INPUT + LIMIT * OUTPUT)


def test_every_row_within_is_proved_above() -> None:
    parts = {f"messages.content.{name}" for name in (*PARTS_REFUSED, *PARTS_BOUNDED)}
    assert set(INSIDE) == {*INSIDE_REFUSED, *parts, "messages.tool_calls", *IN_TEST_PROMPT_CACHING}
