"""Every member that the vendor's SDK knows is passed, bounded or refused, as the table says; each row is proved by a call."""

import json
import math
import re
from decimal import Decimal
from pathlib import Path
from typing import Any, get_type_hints

import pytest
from openai.types.responses.response_create_params import (
    ResponseCreateParamsNonStreaming,
    ResponseCreateParamsStreaming,
)

from gateway.core.api.json import canonical
from inference.routes.responses.members import INSIDE, VENDOR
from inference.rules.members import Treatment
from tests.inference.routes.test_responses import respond
from tests.support.stage import Caller, Stage
from tests.support.stage import ask as request

INPUT, OUTPUT = Decimal("1.5"), Decimal(7)
PRICE = {"input_token": str(INPUT), "output_token": str(OUTPUT)}
LIMIT = 50
FUNCTION = {"type": "function", "name": "weather", "parameters": {"type": "object"}, "strict": False}
PNG = "data:image/png;base64,iVBORw0KGgo="

PASSED: dict[str, Any] = {
    "image": {"context_compression": "enabled"},
    "include": ["message.output_text.logprobs", "reasoning.encrypted_content", "message.input_image.image_url"],
    "max_tool_calls": 3,
    "metadata": {"order": "7"},
    "parallel_tool_calls": False,
    "prompt_cache_key": "a-key",
    "prompt_cache_retention": "24h",
    "safety_identifier": "hash-of-a-person",
    "stream": True,
    "stream_options": {"include_obfuscation": False},
    "temperature": 0.5,
    "tool_choice": {"type": "allowed_tools", "mode": "auto", "tools": [{"type": "function", "name": "weather"}]},
    "top_logprobs": 3,
    "top_p": 0.9,
    "user": "a-person",
}

REFUSED: dict[str, list[Any]] = {
    "access_programs": [{"cyber": "standard"}],
    "background": [True, "false"],
    "context_management": [[{"type": "compaction", "compact_threshold": 1000}]],
    "conversation": ["conv_1", {"id": "conv_1"}],
    "moderation": [{"model": "omni-moderation-latest"}],
    "prompt": [{"id": "pmpt_1"}],
    "prompt_cache_options": [{"mode": "explicit", "ttl": "30m"}],
    "service_tier": ["flex", "scale", "priority", "fast", "ultrafast", ["auto"], 1],
}

ALLOWED: dict[str, list[Any]] = {
    "background": [False, None],
    "conversation": [None],
    "service_tier": ["auto", "default", None],
}

# Members beside the plain request, and the output tokens that they make.
BOUNDED: dict[str, list[tuple[dict[str, Any], int]]] = {
    "input": [
        ({"input": [{"role": "user", "content": "naïve 🙂" * 50}]}, LIMIT),
        (
            {"input": [{"type": "message", "role": "developer", "content": [{"type": "input_text", "text": "x"}]}]},
            LIMIT,
        ),
    ],
    "instructions": [({"instructions": "Be brief. 🙂"}, LIMIT)],
    "max_output_tokens": [({"max_output_tokens": 11}, 11)],
    "reasoning": [({"reasoning": {"effort": "high", "summary": "auto", "mode": "standard"}}, LIMIT)],
    "store": [({"store": False}, LIMIT)],
    "text": [({"text": {"format": {"type": "json_object"}, "verbosity": "low"}}, LIMIT)],
    "tools": [({"tools": [FUNCTION, {"type": "custom", "name": "code"}]}, LIMIT)],
    "truncation": [({"truncation": "auto"}, LIMIT)],
}
ELSEWHERE = {"model", "previous_response_id"}  # below, and in test_stored_responses.py


def vendor_members() -> set[str]:
    kinds = ResponseCreateParamsNonStreaming, ResponseCreateParamsStreaming
    return {name for kind in kinds for name in get_type_hints(kind)}


def names_of(treatment: Treatment) -> set[str]:
    return {name for name, member in VENDOR.items() if member.treatment is treatment}


def ask(stage: Stage, price: Any = PRICE, **members: Any) -> tuple[Caller, Any, dict[str, Any]]:
    alias, caller = stage.model(max_output_tokens=LIMIT, price=price), stage.caller()
    body = request(alias, **members)
    return caller, respond(caller, body, content=json.dumps(body).encode()), body


def assert_refused(stage: Stage, caller: Caller, answer: Any, param: str, code: str = "invalid_request") -> None:
    error = answer.json()["error"]
    assert (answer.status_code, error["code"], error["param"]) == (400, code, param)
    assert caller.calls == []
    assert caller.wallet == {"balance": 1_000_000, "held": 0, "debt": 0}
    assert len(stage.upstream.ledger) == 0


def test_the_table_has_every_member_of_the_sdk_and_no_other() -> None:
    assert set(VENDOR) == vendor_members()


def test_every_row_of_the_table_is_proved_below() -> None:
    assert names_of(Treatment.PASSED) == set(PASSED)
    assert names_of(Treatment.REFUSED) == set(REFUSED)
    assert names_of(Treatment.BOUNDED) == set(BOUNDED) | ELSEWHERE


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
    ("members", "output_tokens"),
    [row for rows in BOUNDED.values() for row in rows],
    ids=[name for name, rows in BOUNDED.items() for _ in rows],
)
def test_a_bounded_member_is_in_the_hold_and_passed(stage: Stage, members: dict[str, Any], output_tokens: int) -> None:
    caller, answer, body = ask(stage, **members)
    assert answer.status_code == 200, answer.text
    hold = math.ceil(len(canonical(body)) * INPUT + output_tokens * OUTPUT)
    assert caller.only_call.hold_microusd == hold
    assert int(answer.headers["x-service-hold-microusd"]) == hold
    sent = stage.upstream.ledger.entries[0].body
    assert {name: sent[name] for name in members} == members


def test_the_model_selects_the_price_and_is_replaced_by_the_deployments_own(stage: Stage) -> None:
    caller, answer, body = ask(stage, {"input_token": "3", "output_token": "14"})
    assert answer.json()["model"] == body["model"]
    assert caller.only_call.hold_microusd == 3 * len(canonical(body)) + 14 * LIMIT
    assert stage.upstream.ledger.entries[0].body["model"] == "small-1"


HOSTED = (
    *("web_search", "web_search_preview", "file_search", "code_interpreter", "mcp", "computer_use_preview", "computer"),
    *(
        "image_generation",
        "local_shell",
        "shell",
        "apply_patch",
        "namespace",
        "tool_search",
        "programmatic_tool_calling",
    ),
)
ITEMS_OF_HOSTED = (
    *("item_reference", "web_search_call", "file_search_call", "computer_call", "computer_call_output", "mcp_call"),
    *("code_interpreter_call", "image_generation_call", "local_shell_call", "shell_call", "apply_patch_call"),
    *("mcp_list_tools", "mcp_approval_response", "additional_tools", "compaction", "compaction_trigger", "program"),
)


@pytest.mark.parametrize("kind", [*HOSTED, None, 7, "x" * 500, "\n"])
def test_a_tool_of_the_provider_is_refused_in_words(stage: Stage, kind: Any) -> None:
    caller, answer, _ = ask(stage, tools=[FUNCTION, {"type": kind}])
    assert_refused(stage, caller, answer, "tools.1.type")
    if kind in HOSTED:
        assert kind in answer.json()["error"]["message"]


@pytest.mark.parametrize("kind", ITEMS_OF_HOSTED)
def test_an_item_that_costs_or_names_a_record_is_refused(stage: Stage, kind: str) -> None:
    item = {"type": kind, "id": "msg_somebodys", "role": "developer", "tools": [{"type": "web_search"}]}
    caller, answer, _ = ask(stage, input=[{"role": "user", "content": "x"}, item])
    assert_refused(stage, caller, answer, "input.1.type")


def part(**members: Any) -> dict[str, Any]:
    return {"input": [{"role": "user", "content": [{"type": "input_text", "text": "see"}, members]}]}


INSIDE_REFUSED: dict[str, list[tuple[dict[str, Any], str]]] = {
    "input.content.cache_control": [
        (part(type="input_text", text="x", cache_control={"type": "ephemeral"}), "input.0.content.1.cache_control")
    ],
    "input.content.prompt_cache_breakpoint": [
        (part(type="input_text", text="x", prompt_cache_breakpoint={}), "input.0.content.1.prompt_cache_breakpoint")
    ],
    "input.content.file_id": [
        (part(type="input_file", file_id="file-1"), "input.0.content.1.file_id"),
        (part(type="input_image", file_id="file-1"), "input.0.content.1.file_id"),
    ],
    "input.content.file_url": [(part(type="input_file", file_url="https://a.example/x"), "input.0.content.1.file_url")],
    "input.content.type": [
        (part(type="input_audio", input_audio={"data": "AAAA", "format": "wav"}), "input.0.content.1.type"),
        (part(type=None), "input.0.content.1.type"),
    ],
    "input.type": [
        ({"input": [{"id": "msg_somebodys"}]}, "input.0.type"),
        ({"input": [{"type": "function_call_output", "output": [{"type": "video"}]}]}, "input.0.output.0.type"),
    ],
    "reasoning.mode": [({"reasoning": {"mode": "pro"}}, "reasoning.mode")],
    "tool_choice.type": [
        ({"tool_choice": {"type": "file_search"}}, "tool_choice"),
        ({"tool_choice": {"type": "allowed_tools", "tools": [{"type": "mcp"}]}}, "tool_choice.tools.0.type"),
        ({"tool_choice": "any"}, "tool_choice"),
    ],
    "tools.type": [({"tools": [{"type": "web_search"}]}, "tools.0.type")],
}


@pytest.mark.parametrize(("members", "param"), [row for rows in INSIDE_REFUSED.values() for row in rows])
def test_a_refused_member_within_another_is_named(stage: Stage, members: dict[str, Any], param: str) -> None:
    caller, answer, _ = ask(stage, **members)
    assert_refused(stage, caller, answer, param)


INSIDE_BOUNDED: dict[str, Any] = {
    "input.content.image_url": {"type": "input_image", "image_url": PNG, "detail": "low"},
    "input.content.file_data": {"type": "input_file", "file_data": "data:application/pdf;base64,AAAA", "filename": "a"},
}


@pytest.mark.parametrize("name", sorted(INSIDE_BOUNDED))
def test_a_part_that_is_no_text_is_held_for_as_the_context(stage: Stage, name: str) -> None:
    alias = stage.model(max_output_tokens=LIMIT, context_tokens=2000, price=PRICE)
    caller, body = stage.caller(), request(alias, **part(**INSIDE_BOUNDED[name]))
    assert respond(caller, body).status_code == 200
    assert caller.only_call.hold_microusd == math.ceil(2000 * INPUT + LIMIT * OUTPUT)
    assert stage.upstream.ledger.entries[0].body["input"] == body["input"]


def test_a_model_without_a_known_context_takes_text_alone(stage: Stage) -> None:
    caller, answer, _ = ask(stage, **part(**INSIDE_BOUNDED["input.content.image_url"]))
    assert_refused(stage, caller, answer, "input.0.content.1")


def test_ids_of_items_are_not_sent_on(stage: Stage) -> None:
    turns = [
        {"type": "message", "id": "msg_theirs", "role": "user", "content": "Hello", "status": "completed"},
        {"type": "function_call", "id": "fc_theirs", "call_id": "call_1", "name": "weather", "arguments": "{}"},
        {"type": "function_call_output", "call_id": "call_1", "output": "rain"},
        {"type": "reasoning", "id": "rs_theirs", "summary": []},
        {"type": "reasoning", "id": "rs_open", "summary": [], "content": [{"type": "reasoning_text", "text": "Hm."}]},
    ]
    _, answer, _ = ask(stage, input=turns)
    assert answer.status_code == 200, answer.text
    sent = stage.upstream.ledger.entries[0].body["input"]
    assert [item["type"] for item in sent] == ["message", "function_call", "function_call_output", "reasoning"]
    assert not [item for item in sent if "id" in item or "status" in item]
    assert [item["call_id"] for item in sent if "call_id" in item] == ["call_1", "call_1"]


@pytest.mark.parametrize(
    "url",
    [
        "http://example.com/a.png",
        "https://127.0.0.1/a.png",
        "https://localhost/a.png",
        "https://user@example.com/a.png",
        "file:///etc/passwd",
        "data:text/html;base64,AAAA",
    ],
)
def test_an_image_of_a_private_place_is_rejected(stage: Stage, url: str) -> None:
    caller, answer, _ = ask(stage, **part(type="input_image", image_url=url))
    assert_refused(stage, caller, answer, "input.0.content.1.image_url", "image_rejected")


@pytest.mark.parametrize(
    ("members", "param"),
    [
        ({"input": None}, "input"),
        ({"input": 7}, "input"),
        ({"input": ["text"]}, "input.0"),
        ({"input": [{"role": "tool", "content": "x"}]}, "input.0.role"),
        ({"input": [{"role": "user"}]}, "input.0.content"),
        ({"input": [{"role": "user", "content": ["x"]}]}, "input.0.content.0"),
        ({"input": [{"role": "user", "content": [{"type": "input_text"}]}]}, "input.0.content.0.text"),
        ({"input": [{"role": "user", "content": [{"type": "input_text", "text": 7}]}]}, "input.0.content.0.text"),
        ({"input": [{"role": "user", "content": [{"type": ["input_text"]}]}]}, "input.0.content.0.type"),
        ({"input": [{"type": ["message"], "role": "user"}]}, "input.0.type"),
        ({"input": [{"role": "user", "content": "x", "odd": 10**400}]}, "input"),
        ({"tools": {}}, "tools"),
        ({"tools": ["x"]}, "tools.0.type"),
        ({"include": "x"}, "include"),
        ({"include": ["file_search_call.results"]}, "include.0"),
        ({"include": [[]]}, "include.0"),
        ({"metadata": {"a": 1}}, "metadata"),
        ({"metadata": {"a" * 65: "x"}}, "metadata"),
        ({"metadata": {"a": "x" * 513}}, "metadata"),
        ({"metadata": {str(number): "x" for number in range(17)}}, "metadata"),
        ({"metadata": []}, "metadata"),
        ({"store": "yes"}, "store"),
        ({"stream": 1}, "stream"),
        ({"text": "json"}, "text"),
        ({"text": {"format": "json"}}, "text.format"),
        ({"truncation": True}, "truncation"),
        ({"instructions": ["x"]}, "instructions"),
        ({"max_output_tokens": 0}, "max_output_tokens"),
        ({"max_output_tokens": LIMIT + 1}, "max_output_tokens"),
        ({"reasoning": "high"}, "reasoning"),
        ({"base_url": "https://x.example"}, "base_url"),
        ({"mcp_servers": []}, "mcp_servers"),
    ],
)
def test_what_makes_no_sense_is_named(stage: Stage, members: dict[str, Any], param: str) -> None:
    caller, answer, _ = ask(stage, **members)
    assert_refused(stage, caller, answer, param)


def test_every_row_within_is_proved_above() -> None:
    assert set(INSIDE) == {*INSIDE_REFUSED, *INSIDE_BOUNDED, "input.id"}


PAGE = Path(__file__).resolve().parents[3] / "docs" / "response-fields.md"


def rows_under(heading: str) -> list[list[str]]:
    table = re.search(r"(?:^\|.*\n)+", PAGE.read_text().partition(f"## {heading}\n")[2], re.MULTILINE)
    assert table is not None
    return [[cell.strip() for cell in line.strip("|\n").split("|")] for line in table.group().splitlines()[2:]]


@pytest.mark.parametrize(("heading", "table"), [("Members", VENDOR), ("Members within members", INSIDE)])
def test_the_page_has_the_same_table(heading: str, table: Any) -> None:
    told = [[f"`{name}`", str(member.treatment), member.told] for name, member in table.items()]
    assert rows_under(heading) == told
