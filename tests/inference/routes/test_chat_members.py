"""Every member that the vendor's SDK knows is passed, bounded or refused, as the table says; each row is proved by a call."""

import json
import math
import re
from decimal import Decimal
from pathlib import Path
from typing import Any, get_type_hints

import pytest
from openai.types.chat.completion_create_params import (
    CompletionCreateParamsNonStreaming,
    CompletionCreateParamsStreaming,
)

from gateway.core.api.json import canonical
from inference.routes.chat.members import INSIDE, VENDOR
from inference.rules.members import Treatment
from tests.support.stage import MESSAGES, Caller, Stage, chat

INPUT, OUTPUT, SPOKEN, HEARD = Decimal("1.5"), Decimal(7), Decimal(40), Decimal(20)
PRICE = {"input_token": str(INPUT), "output_token": str(OUTPUT)}
AUDIO_PRICE = {**PRICE, "output_audio_token": str(SPOKEN), "input_audio_token": str(HEARD)}
LIMIT = 50
PARAMETERS: Any = {"type": "object", "properties": {"city": {"type": "string", "maxLength": 9}}}
FUNCTION = {"name": "weather", "parameters": PARAMETERS}
PNG = "data:image/png;base64,iVBORw0KGgo="

PASSED: dict[str, Any] = {
    "frequency_penalty": 0.25,
    "function_call": "none",
    "logit_bias": {"50256": -100},
    "logprobs": True,
    "metadata": {"order": "7"},
    "parallel_tool_calls": False,
    "presence_penalty": -0.5,
    "prompt_cache_key": "a-key",
    "prompt_cache_retention": "24h",
    "reasoning_effort": "high",
    "safety_identifier": "hash-of-a-person",
    "seed": 2**70,
    "stop": ["\n", "END"],
    "stream": True,
    "stream_options": {"include_usage": True, "include_obfuscation": False},
    "temperature": 0.5,
    "tool_choice": "none",
    "top_logprobs": 3,
    "top_p": 0.9,
    "user": "a-person",
    "verbosity": "low",
}

REFUSED: dict[str, list[Any]] = {
    "moderation": [{"model": "omni-moderation-latest"}],
    "prompt_cache_options": [{"mode": "explicit", "ttl": "30m"}],
    "service_tier": ["flex", "scale", "priority", "fast", ["auto"], 1],
    "store": [True, "false"],
    "web_search_options": [{}, {"search_context_size": "high"}],
}

ALLOWED: dict[str, list[Any]] = {"service_tier": ["auto", "default", None], "store": [False, None]}

# Members beside the plain request, and the input bytes beyond the body's own, output tokens and price of each that they make.
BOUNDED: dict[str, list[tuple[dict[str, Any], int, Decimal]]] = {
    "audio": [({"audio": {"voice": "alloy", "format": "wav"}, "modalities": ["text", "audio"]}, LIMIT, SPOKEN)],
    "functions": [({"functions": [FUNCTION]}, LIMIT, OUTPUT)],
    "max_completion_tokens": [({"max_completion_tokens": 11}, 11, OUTPUT)],
    "max_tokens": [({"max_tokens": 12}, 12, OUTPUT)],
    "messages": [({"messages": [{"role": "user", "content": "naïve 🙂" * 50}]}, LIMIT, OUTPUT)],
    "modalities": [({"modalities": ["text"]}, LIMIT, OUTPUT), ({"modalities": ["audio", "text"]}, LIMIT, SPOKEN)],
    "n": [({"n": 3}, 3 * LIMIT, OUTPUT)],
    "prediction": [
        ({"prediction": {"type": "content", "content": "a naïve tale"}}, LIMIT + 13, OUTPUT),
        (
            {"prediction": {"type": "content", "content": [{"type": "text", "text": "a naïve tale"}]}, "n": 2},
            2 * (LIMIT + 13),
            OUTPUT,
        ),
    ],
    "response_format": [({"response_format": {"type": "json_object"}}, LIMIT, OUTPUT)],
    "tools": [({"tools": [{"type": "function", "function": FUNCTION}]}, LIMIT, OUTPUT)],
}


def vendor_members() -> set[str]:
    kinds = CompletionCreateParamsNonStreaming, CompletionCreateParamsStreaming
    return {name for kind in kinds for name in get_type_hints(kind)}


def names_of(treatment: Treatment) -> set[str]:
    return {name for name, member in VENDOR.items() if member.treatment is treatment}


def ask(stage: Stage, price: Any = PRICE, **members: Any) -> tuple[Caller, Any, dict[str, Any]]:
    alias, caller = stage.model(max_output_tokens=LIMIT, price=price), stage.caller()
    body = chat(alias, **members)
    return caller, caller.post(body, content=json.dumps(body).encode()), body  # integers of any length, unlike orjson


def assert_refused(stage: Stage, caller: Caller, answer: Any, param: str) -> None:
    error = answer.json()["error"]
    assert (answer.status_code, error["code"], error["param"]) == (400, "invalid_request", param)
    assert caller.calls == []
    assert caller.wallet == {"balance": 1_000_000, "held": 0, "debt": 0}
    assert len(stage.upstream.ledger) == 0


def test_the_table_has_every_member_of_the_sdk_and_no_other() -> None:
    assert set(VENDOR) == vendor_members()


def test_every_row_of_the_table_is_proved_below() -> None:
    assert names_of(Treatment.PASSED) == set(PASSED)
    assert names_of(Treatment.REFUSED) == set(REFUSED)
    assert names_of(Treatment.BOUNDED) == set(BOUNDED) | {"model"}


@pytest.mark.parametrize("name", sorted(PASSED))
def test_a_passed_member_reaches_the_upstream_as_it_came(stage: Stage, name: str) -> None:
    needed = {"stream": True} if name == "stream_options" else {}
    _, answer, _ = ask(stage, **needed, **{name: PASSED[name]})
    assert answer.status_code == 200, answer.text
    assert stage.upstream.ledger.entries[0].body[name] == PASSED[name]


@pytest.mark.parametrize(("name", "value"), [(name, value) for name, values in REFUSED.items() for value in values])
def test_a_refused_member_is_named_and_costs_nothing(stage: Stage, name: str, value: Any) -> None:
    caller, answer, _ = ask(stage, **{name: value})
    assert_refused(stage, caller, answer, name)


@pytest.mark.parametrize(("name", "value"), [(name, value) for name, values in ALLOWED.items() for value in values])
def test_a_refused_member_passes_with_a_value_that_changes_nothing(stage: Stage, name: str, value: Any) -> None:
    _, answer, _ = ask(stage, **{name: value})
    assert answer.status_code == 200
    assert stage.upstream.ledger.entries[0].body[name] == value


@pytest.mark.parametrize(
    ("members", "output_tokens", "price"),
    [row for rows in BOUNDED.values() for row in rows],
    ids=[name for name, rows in BOUNDED.items() for _ in rows],
)
def test_a_bounded_member_is_in_the_hold_and_passed(
    stage: Stage, members: dict[str, Any], output_tokens: int, price: Decimal
) -> None:
    caller, answer, body = ask(stage, AUDIO_PRICE, **members)
    assert answer.status_code == 200, answer.text
    hold = math.ceil(len(canonical(body)) * INPUT + output_tokens * price)
    assert caller.only_call.hold_microusd == hold
    assert int(answer.headers["x-service-hold-microusd"]) == hold
    sent = stage.upstream.ledger.entries[0].body
    assert {name: sent[name] for name in members} == members


def test_the_model_selects_the_price_and_is_replaced_by_the_deployments_own(stage: Stage) -> None:
    caller, answer, body = ask(stage, {"input_token": "3", "output_token": "14"})
    assert answer.json()["model"] == body["model"]
    assert caller.only_call.hold_microusd == 3 * len(canonical(body)) + 14 * LIMIT
    assert stage.upstream.ledger.entries[0].body["model"] == "small-1"


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


INSIDE_REFUSED: dict[str, tuple[dict[str, Any], str]] = {
    "audio.voice.id": ({"audio": {"voice": {"id": "voice_1"}, "format": "wav"}}, "audio.voice"),
    "messages.audio": ({"messages": [*MESSAGES, {"role": "assistant", "audio": {"id": "a"}}]}, "messages.1.audio"),
    "messages.role": ({"messages": [{"content": "x"}]}, "messages.0.role"),
    "tools.type": ({"tools": [{"type": "web_search"}]}, "tools.0.type"),
    "prediction.content": ({"prediction": {"type": "content", "content": 7}}, "prediction.content"),
}
PARTS_REFUSED: dict[str, tuple[dict[str, Any], str]] = {
    "cache_control": ({"type": "text", "text": "x", "cache_control": {"type": "ephemeral"}}, "cache_control"),
    "prompt_cache_breakpoint": (
        {"type": "text", "text": "x", "prompt_cache_breakpoint": {"mode": "explicit"}},
        "prompt_cache_breakpoint",
    ),
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
    dearest = HEARD if name == "input_audio" else INPUT
    assert caller.only_call.hold_microusd == math.ceil(2000 * dearest + LIMIT * OUTPUT)
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
    assert set(INSIDE) == {*INSIDE_REFUSED, *parts, "messages.tool_calls"}


PAGE = Path(__file__).resolve().parents[3] / "docs" / "chat-fields.md"


def rows_under(heading: str) -> list[list[str]]:
    table = re.search(r"(?:^\|.*\n)+", PAGE.read_text().partition(f"## {heading}\n")[2], re.MULTILINE)
    assert table is not None
    return [[cell.strip() for cell in line.strip("|\n").split("|")] for line in table.group().splitlines()[2:]]


@pytest.mark.parametrize(("heading", "table"), [("Members", VENDOR), ("Members within members", INSIDE)])
def test_the_page_has_the_same_table(heading: str, table: Any) -> None:
    told = [[f"`{name}`", str(member.treatment), member.told] for name, member in table.items()]
    assert rows_under(heading) == told
