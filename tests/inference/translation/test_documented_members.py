"""docs/translation.md says of every member that the vendor documents what becomes of it."""

import re
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest
from anthropic.types.message_create_params import MessageCreateParamsBase
from openai.types.chat.completion_create_params import CompletionCreateParamsBase
from openai.types.responses.response_create_params import ResponseCreateParamsBase

from gateway.core.contract.errors import InvalidRequest
from inference.translation.chat import request_reader as chat_reader
from inference.translation.chat import request_writer as chat_writer
from inference.translation.messages import request_reader as message_reader
from inference.translation.messages import request_writer as message_writer
from inference.translation.responses import request_reader as responses_reader
from inference.translation.responses import request_writer as responses_writer

PAGE = (Path(__file__).resolve().parents[3] / "docs" / "translation.md").read_text()
CALLED = {"type": "function", "function": {"name": "now"}}

OF_CHAT: Mapping[str, Any] = {
    "audio": {"voice": "a", "format": "wav"},
    "frequency_penalty": 1,
    "function_call": "auto",
    "functions": [{"name": "now"}],
    "logit_bias": {"1": 1},
    "logprobs": True,
    "max_completion_tokens": 1,
    "max_tokens": 1,
    "messages": [{"role": "user", "content": "hello"}],
    "metadata": {"a": "b"},
    "modalities": ["text", "audio"],
    "moderation": {"model": "m"},
    "n": 2,
    "parallel_tool_calls": False,
    "prediction": {"type": "content", "content": "a"},
    "presence_penalty": 1,
    "prompt_cache_key": "a",
    "prompt_cache_options": {"mode": "implicit"},
    "prompt_cache_retention": "24h",
    "reasoning_effort": "low",
    "response_format": {"type": "json_object"},
    "safety_identifier": "a",
    "seed": 1,
    "service_tier": "default",
    "stop": "a",
    "stream_options": {"include_obfuscation": True},
    "temperature": 1,
    "tool_choice": "none",
    "tools": [CALLED],
    "top_p": 1,
    "user": "a",
    "verbosity": "low",
    "web_search_options": {},
}
OF_RESPONSES: Mapping[str, Any] = {
    "access_programs": {"cyber": "standard"},
    "background": True,
    "context_management": [{"type": "compaction"}],
    "conversation": "conv_1",
    "image": {"context_compression": "auto"},
    "include": ["reasoning.encrypted_content"],
    "input": "hello",
    "instructions": "a",
    "max_output_tokens": 1,
    "moderation": {"model": "m"},
    "parallel_tool_calls": False,
    "prompt": {"id": "pmpt_1"},
    "prompt_cache_key": "a",
    "prompt_cache_options": {"mode": "implicit"},
    "prompt_cache_retention": "24h",
    "reasoning": {"effort": "low"},
    "safety_identifier": "a",
    "service_tier": "default",
    "stream_options": {"include_obfuscation": True},
    "temperature": 1,
    "text": {"format": {"type": "json_object"}, "verbosity": "low"},
    "tool_choice": "none",
    "tools": [{"type": "function", "name": "now"}],
    "top_logprobs": 1,
    "top_p": 1,
    "truncation": "auto",
    "user": "a",
}
OF_MESSAGES: Mapping[str, Any] = {
    "cache_control": {"type": "ephemeral"},
    "container": "c",
    "context_management": {"edits": [{"type": "clear_tool_uses_20250919"}]},
    "diagnostics": {"previous_message_id": "msg_1"},
    "inference_geo": "us",
    "max_tokens": 1,
    "mcp_servers": [{"type": "url", "url": "https://tools.example", "name": "a"}],
    "messages": [{"role": "user", "content": "hello"}],
    "metadata": {"user_id": "a"},
    "output_config": {"effort": "low"},
    "service_tier": "auto",
    "speed": "fast",
    "stop_sequences": ["a"],
    "system": "a",
    "temperature": 1,
    "thinking": {"type": "enabled", "budget_tokens": 1024},
    "tool_choice": {"type": "none"},
    "tools": [{"name": "now", "input_schema": {"type": "object"}}],
    "top_k": 1,
    "top_p": 1,
}
BY_THE_GATEWAY = {"max_tool_calls", "metadata", "model", "previous_response_id", "store", "stream", "top_logprobs"}
"""What the endpoint says, or the gateway keeps, and what goes only with another member."""


def table(number: int) -> dict[str, str]:
    """Read the page's table of this number: member, and what becomes of it."""
    section = PAGE.split("\n## ")[number]
    return dict(re.findall(r"^\| `(\w+)` \| (.+) \|$", section, re.MULTILINE))


def as_responses(body: Mapping[str, Any]) -> dict[str, Any]:
    return responses_writer.write_request(chat_reader.read_request(body))


def as_chat(body: Mapping[str, Any]) -> dict[str, Any]:
    return chat_writer.write_request(responses_reader.read_request(body))


def chat_as_message(body: Mapping[str, Any]) -> dict[str, Any]:
    return message_writer.write_request(chat_reader.read_request(body))


def response_as_message(body: Mapping[str, Any]) -> dict[str, Any]:
    return message_writer.write_request(responses_reader.read_request(body))


def message_as_chat(body: Mapping[str, Any]) -> dict[str, Any]:
    return chat_writer.write_request(message_reader.read_request(body))


def message_as_response(body: Mapping[str, Any]) -> dict[str, Any]:
    return responses_writer.write_request(message_reader.read_request(body))


Translate = Callable[[Mapping[str, Any]], dict[str, Any]]
OLDER = {"context_management", "mcp_servers", "temperature", "top_k", "top_p"}
"""Members of Messages that the SDK's current types leave out."""
CHAT_NAMES = {*CompletionCreateParamsBase.__annotations__, "stream"}
RESPONSE_NAMES = {*ResponseCreateParamsBase.__annotations__, "stream"}
MESSAGE_NAMES = {*MessageCreateParamsBase.__annotations__, *OLDER, "stream"} - {"user_profile_id", "workspace_id"}
WAYS = [
    (1, CHAT_NAMES, OF_CHAT),
    (2, RESPONSE_NAMES, OF_RESPONSES),
    (3, CHAT_NAMES, OF_CHAT),
    (4, RESPONSE_NAMES, OF_RESPONSES),
    (5, MESSAGE_NAMES, OF_MESSAGES),
    (6, MESSAGE_NAMES, OF_MESSAGES),
]
TOOL = {"tools": [CALLED], "tool_choice": "auto"}
PARTLY = {"parallel_tool_calls", "response_format", "service_tier", "temperature", "text", "top_logprobs"}
"""Members whose values Messages can say in part; see below."""
ROWS: list[tuple[int, Translate, str, Any]] = [
    *((1, as_responses, name, value) for name, value in OF_CHAT.items()),
    *((2, as_chat, name, value) for name, value in OF_RESPONSES.items()),
    *((3, chat_as_message, name, value) for name, value in OF_CHAT.items() if name not in PARTLY),
    *((4, response_as_message, name, value) for name, value in OF_RESPONSES.items() if name not in PARTLY),
    *((5, message_as_chat, name, value) for name, value in OF_MESSAGES.items()),
    *((6, message_as_response, name, value) for name, value in OF_MESSAGES.items()),
]
LEAST: dict[int, dict[str, Any]] = {
    1: {"messages": OF_CHAT["messages"]},
    2: {"input": "hello"},
    3: {"messages": OF_CHAT["messages"]},
    4: {"input": "hello"},
    5: {"messages": OF_MESSAGES["messages"]},
    6: {"messages": OF_MESSAGES["messages"]},
}


@pytest.mark.parametrize(("number", "vendor", "tried"), WAYS)
def test_the_page_has_a_row_for_every_member(number: int, vendor: Any, tried: Mapping[str, Any]) -> None:
    named = set(vendor)
    assert set(table(number)) == named
    assert named - set(tried) <= BY_THE_GATEWAY


@pytest.mark.parametrize(("number", "translate", "name", "value"), ROWS, ids=[f"{row[0]}-{row[2]}" for row in ROWS])
def test_a_member_becomes_what_the_page_says(number: int, translate: Translate, name: str, value: Any) -> None:
    says = table(number)[name]
    if "refused" in says and not says.startswith("`reasoning_effort`"):
        with pytest.raises(InvalidRequest) as refused:
            translate({**LEAST[number], name: value})
        assert str(refused.value.param).partition(".")[0] == name
        return
    written = translate({**LEAST[number], name: value})
    if says.startswith("nothing"):
        assert written == translate(LEAST[number])
        return
    [becomes, *_] = re.findall(r"`(\w+)[^`]*`", says)
    assert becomes in written
    assert name in LEAST[number] or written != translate(LEAST[number])


@pytest.mark.parametrize(
    ("members", "written"),
    [
        ({"temperature": 0.5}, {"temperature": 0.5}),
        ({"parallel_tool_calls": False, **TOOL}, {"tool_choice": {"type": "auto", "disable_parallel_tool_use": True}}),
        ({"parallel_tool_calls": True}, {}),
        ({"reasoning_effort": "none"}, {"thinking": {"type": "disabled"}}),
        ({"reasoning_effort": "minimal"}, {"output_config": {"effort": "low"}}),
        ({"service_tier": "default"}, {}),
        (
            {"response_format": {"type": "json_schema", "json_schema": {"name": "a", "schema": {"type": "object"}}}},
            {"output_config": {"format": {"type": "json_schema", "schema": {"type": "object"}}}},
        ),
    ],
)
def test_what_messages_can_say_of_a_chat(members: dict[str, Any], written: dict[str, Any]) -> None:
    translated = chat_as_message({**LEAST[3], **members})
    assert {name: value for name, value in translated.items() if name not in ("messages", "tools")} == written


@pytest.mark.parametrize(
    ("members", "param"),
    [
        ({"temperature": 1.5}, "temperature"),
        ({"service_tier": "flex"}, "service_tier"),
        ({"response_format": {"type": "json_object"}}, "response_format"),
        (
            {"tool_choice": {"type": "allowed_tools", "allowed_tools": {"mode": "auto", "tools": [CALLED]}}},
            "tool_choice",
        ),
    ],
)
def test_what_messages_cannot_say_of_a_chat(members: dict[str, Any], param: str) -> None:
    with pytest.raises(InvalidRequest) as refused:
        chat_as_message({**LEAST[3], **members})
    assert refused.value.param == param
