"""What a request for a response may not ask for within its members, and how its parts are held for."""

import math
from typing import Any

import pytest

from inference.routes.responses.members import INSIDE
from tests.inference.routes.member_table import INPUT, LIMIT, OUTPUT, PNG, PRICE, assert_refused
from tests.inference.routes.response_member_table import FUNCTION, RESPONSE_TABLE
from tests.inference.routes.test_responses import respond
from tests.support.stage import Stage
from tests.support.stage import ask as request

ask = RESPONSE_TABLE.ask

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
    "input.content.file_id": [
        (part(type="input_file", file_id="file-1"), "input.0.content.1.file_id"),
        (part(type="input_image", file_id="file-1"), "input.0.content.1.file_id"),
    ],
    "input.content.file_url": [(part(type="input_file", file_url="https://a.example/x"), "input.0.content.1.file_url")],
    "input.content.uuid": [
        (part(type="input_image", image_url=PNG, uuid="one"), "input.0.content.1.uuid"),
    ],
    "input.content.video_url": [
        (part(type="input_text", text="x", video_url="https://a.example/v"), "input.0.content.1.video_url"),
        (part(type="input_text", text="x", image_url="https://a.example/i"), "input.0.content.1.image_url"),
        (part(type="input_image", image_url=PNG, file_data="AAAA"), "input.0.content.1.file_data"),
    ],
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


def test_a_model_without_a_known_context_takes_only_text(stage: Stage) -> None:
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
        ({"input": [{"type": "function_call", "content": [{"type": ["x"]}]}]}, "input.0.content"),
        (
            {"input": [{"type": "custom_tool_call", "output": [{"type": "input_file", "file_id": "f"}]}]},
            "input.0.output",
        ),
        ({"input": [{"role": "user", "content": "x", "output": [{"type": "input_image"}]}]}, "input.0.output"),
        (
            {"input": [{"type": "reasoning", "content": [{"type": "input_image", "image_url": PNG}]}]},
            "input.0.content.0",
        ),
        ({"input": [{"type": "reasoning", "content": [{"type": []}]}]}, "input.0.content.0"),
        ({"input": [{"type": "reasoning", "content": "x"}]}, "input.0.content"),
        ({"tools": [{"type": []}]}, "tools.0.type"),
        ({"tool_choice": {"type": {}}}, "tool_choice"),
        ({"tool_choice": {"type": "allowed_tools", "tools": [{"type": []}]}}, "tool_choice.tools.0.type"),
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
        ({"n": 2}, "n"),
        ({"max_tokens": 10_000}, "max_tokens"),
        ({"max_completion_tokens": 10_000}, "max_completion_tokens"),
        ({"background": 0}, "background"),
    ],
)
def test_what_makes_no_sense_is_named(stage: Stage, members: dict[str, Any], param: str) -> None:
    caller, answer, _ = ask(stage, **members)
    assert_refused(stage, caller, answer, param)


def test_every_row_within_is_proved_above() -> None:
    in_test_prompt_caching = {"input.content.cache_control", "input.content.prompt_cache_breakpoint"}
    assert set(INSIDE) == {*INSIDE_REFUSED, *INSIDE_BOUNDED, *in_test_prompt_caching, "input.id"}
