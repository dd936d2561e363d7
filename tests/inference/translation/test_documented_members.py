"""docs/translation.md says of every member that the vendor documents what becomes of it."""

import re
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest
from openai.types.chat.completion_create_params import CompletionCreateParamsBase
from openai.types.responses.response_create_params import ResponseCreateParamsBase

from gateway.core.contract.errors import InvalidRequest
from inference.translation.chat import request_reader as chat_reader
from inference.translation.chat import request_writer as chat_writer
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


Translate = Callable[[Mapping[str, Any]], dict[str, Any]]
WAYS = [(1, CompletionCreateParamsBase, OF_CHAT), (2, ResponseCreateParamsBase, OF_RESPONSES)]
ROWS: list[tuple[int, Translate, str, Any]] = [
    *((1, as_responses, name, value) for name, value in OF_CHAT.items()),
    *((2, as_chat, name, value) for name, value in OF_RESPONSES.items()),
]
LEAST = {1: {"messages": OF_CHAT["messages"]}, 2: {"input": "hello"}}


@pytest.mark.parametrize(("number", "vendor", "tried"), WAYS)
def test_the_page_has_a_row_for_every_member(number: int, vendor: Any, tried: Mapping[str, Any]) -> None:
    named = set(vendor.__annotations__) | {"stream"}
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
    [becomes, *_] = re.findall(r"`(\w+)[^`]*`", says)
    assert becomes in written
    assert name in LEAST[number] or written != translate(LEAST[number])
