"""What a request of one form becomes in the other, and what is refused because the other has no words for it."""

from copy import deepcopy
from typing import Any

import pytest

from gateway.core.contract.errors import InvalidRequest
from inference.translation.chat import request_reader as chat_reader
from inference.translation.chat import request_writer as chat_writer
from inference.translation.responses import request_reader as responses_reader
from inference.translation.responses import request_writer as responses_writer
from tests.inference.translation.documents import CHAT_REQUEST, DATA_URL, RESPONSES_REQUEST

HELLO = {"messages": [{"role": "user", "content": "hello"}]}
REQUEST = {"input": "hello"}
FUNCTION = {"type": "function", "name": "now"}


def as_responses(body: dict[str, Any]) -> dict[str, Any]:
    return responses_writer.write_request(chat_reader.read_request(body))


def as_chat(body: dict[str, Any], **options: Any) -> dict[str, Any]:
    return chat_writer.write_request(responses_reader.read_request(body), **options)


def test_a_chat_request_is_written_for_responses_member_by_member() -> None:
    assert as_responses(CHAT_REQUEST) == RESPONSES_REQUEST


def test_a_responses_request_is_written_for_chat_member_by_member() -> None:
    expected = deepcopy(CHAT_REQUEST)
    for of_the_call_or_silent in (
        *("model", "stream", "stream_options", "n", "stop", "frequency_penalty", "presence_penalty", "logit_bias"),
        *("modalities", "store"),
        "metadata",  # it stays with the record that the gateway keeps; providers take it only for what they store
    ):
        del expected[of_the_call_or_silent]
    message = expected["messages"][2]
    expected["messages"][2] = {name: message[name] for name in ("role", "content", "tool_calls")}
    expected["messages"][4]["content"] = "rain"
    expected["tools"][1]["function"]["strict"] = False
    assert as_chat(RESPONSES_REQUEST) == expected


def test_instructions_are_the_first_message() -> None:
    assert as_chat({"instructions": "Be brief.", **REQUEST})["messages"] == [
        {"role": "system", "content": "Be brief."},
        {"role": "user", "content": "hello"},
    ]


def test_an_output_limit_goes_where_the_upstream_reads_it() -> None:
    body = {**REQUEST, "max_output_tokens": 7}
    assert as_chat(body)["max_completion_tokens"] == 7
    assert as_chat(body, limit_field="max_tokens") == {**HELLO, "max_tokens": 7}


def test_the_older_limit_of_chat_is_a_limit() -> None:
    assert as_responses({**HELLO, "max_tokens": 7})["max_output_tokens"] == 7


def test_a_function_of_chat_is_not_strict_unless_it_says_so() -> None:
    """Responses takes a function for strict where nothing is said, and chat does not."""
    body = {**HELLO, "tools": [{"type": "function", "function": {"name": "now"}}]}
    assert as_responses(body)["tools"] == [{**FUNCTION, "parameters": None, "strict": False}]


def test_a_function_of_responses_keeps_what_it_leaves_open() -> None:
    assert as_chat({**REQUEST, "tools": [FUNCTION]})["tools"] == [{"type": "function", "function": {"name": "now"}}]


@pytest.mark.parametrize("choice", ["none", "auto", "required"])
def test_a_plain_tool_choice_stays(choice: str) -> None:
    assert as_responses({**HELLO, "tool_choice": choice})["tool_choice"] == choice
    assert as_chat({**REQUEST, "tool_choice": choice})["tool_choice"] == choice


def test_allowed_tools_are_carried_over() -> None:
    of_chat = {
        "type": "allowed_tools",
        "allowed_tools": {"mode": "auto", "tools": [{"type": "function", "function": {"name": "now"}}]},
    }
    of_responses = {"type": "allowed_tools", "mode": "auto", "tools": [FUNCTION]}
    assert as_responses({**HELLO, "tool_choice": of_chat})["tool_choice"] == of_responses
    assert as_chat({**REQUEST, "tool_choice": of_responses})["tool_choice"] == of_chat


@pytest.mark.parametrize("kind", ["text", "json_object"])
def test_a_plain_text_format_is_carried_over(kind: str) -> None:
    assert as_responses({**HELLO, "response_format": {"type": kind}})["text"] == {"format": {"type": kind}}
    assert as_chat({**REQUEST, "text": {"format": {"type": kind}}})["response_format"] == {"type": kind}


def test_calls_stand_in_one_message_right_before_their_outputs() -> None:
    call = {"type": "function_call", "id": "fc_1", "status": "completed", "name": "now", "arguments": "{}"}
    items = [
        {"type": "reasoning", "id": "rs_1", "summary": [], "content": [{"type": "reasoning_text", "text": "Hm."}]},
        {**call, "call_id": "a"},
        {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "Wait."}]},
        {**call, "call_id": "b"},
        {"type": "function_call_output", "call_id": "a", "output": "1"},
        {"type": "function_call_output", "call_id": "b", "output": [{"type": "input_text", "text": "2"}]},
    ]
    called = {"type": "function", "function": {"name": "now", "arguments": "{}"}}
    assert as_chat({"input": items})["messages"] == [
        {
            "role": "assistant",
            "reasoning_content": "Hm.",
            "content": "Wait.",
            "tool_calls": [{"id": "a", **called}, {"id": "b", **called}],
        },
        {"role": "tool", "tool_call_id": "a", "content": "1"},
        {"role": "tool", "tool_call_id": "b", "content": "2"},
    ]


def test_a_part_of_the_bare_type_text_is_text() -> None:
    messages = [{"role": "user", "content": [{"type": "text", "text": "hello"}]}]
    assert as_chat({"input": messages})["messages"] == HELLO["messages"]


def test_two_messages_of_the_assistant_stay_two() -> None:
    messages = [{"role": "assistant", "content": "One."}, {"role": "assistant", "content": "Two."}]
    assert as_chat({"input": messages})["messages"] == messages


def test_earlier_reasoning_that_is_sealed_is_left_out_of_chat() -> None:
    sealed = {"type": "reasoning", "id": "rs_1", "encrypted_content": "gAAA", "summary": []}
    assert as_chat({"input": [sealed, {"role": "user", "content": "hello"}]})["messages"] == HELLO["messages"]


def test_a_bare_reasoning_text_is_left_out_of_responses() -> None:
    body = {"messages": [{"role": "assistant", "content": "Hi.", "reasoning_content": "Hm."}]}
    assert as_responses(body)["input"] == [{"type": "message", "role": "assistant", "content": "Hi."}]


CHAT_ONLY = [
    ({"n": 2}, "n"),
    ({"seed": 0}, "seed"),
    ({"stop": ["x"]}, "stop"),
    ({"frequency_penalty": 0.1}, "frequency_penalty"),
    ({"presence_penalty": -1}, "presence_penalty"),
    ({"logit_bias": {"1": 1}}, "logit_bias"),
    ({"modalities": ["text", "audio"]}, "modalities"),
    ({"audio": {"voice": "x", "format": "wav"}}, "audio"),
    ({"prediction": {"type": "content", "content": "x"}}, "prediction"),
    ({"functions": [{"name": "now"}]}, "functions"),
    ({"function_call": "auto"}, "function_call"),
    ({"web_search_options": {}}, "web_search_options"),
    ({"top_k": 3}, "top_k"),
    ({"stream_options": {"include_obfuscation": True}}, "stream_options.include_obfuscation"),
]
CHAT_NOWHERE = [
    ({"messages": "hello"}, "messages"),
    ({"messages": ["hello"]}, "messages.0"),
    ({"messages": [{"content": "hello"}]}, "messages.0.role"),
    ({"messages": [{"role": "function", "name": "now", "content": "1"}]}, "messages.0.role"),
    ({"messages": [{"role": "user", "name": "Bob", "content": "hello"}]}, "messages.0.name"),
    ({"messages": [{"role": "user", "content": 7}]}, "messages.0.content"),
    ({"messages": [{"role": "user", "content": [{"type": "video"}]}]}, "messages.0.content.0.type"),
    ({"messages": [{"role": "user", "content": [{"type": "text", "text": 7}]}]}, "messages.0.content.0.text"),
    ({"messages": [{"role": "assistant", "function_call": {"name": "now"}}]}, "messages.0.function_call"),
    ({"messages": [{"role": "assistant", "tool_calls": [{"type": "custom"}]}]}, "messages.0.tool_calls.0.type"),
    ({"messages": [{"role": "tool", "content": "1"}]}, "messages.0.tool_call_id"),
    ({"tools": [{"type": "custom", "custom": {"name": "x"}}]}, "tools.0.type"),
    ({"tools": [{"type": "function", "function": {}}]}, "tools.0.function.name"),
    ({"tool_choice": "now"}, "tool_choice"),
    ({"tool_choice": {"type": "custom", "custom": {"name": "x"}}}, "tool_choice.type"),
    ({"response_format": {"type": "grammar"}}, "response_format.type"),
    ({"response_format": {"type": "json_schema"}}, "response_format.json_schema"),
    ({"max_tokens": 1, "max_completion_tokens": 2}, "max_tokens"),
    ({"top_logprobs": 2}, "logprobs"),
]
FILE_ID = [{"role": "user", "content": [{"type": "file", "file": {"file_id": "file-1", "file_data": "x"}}]}]
AUDIO = {"type": "input_audio", "input_audio": {"data": "UklGRg==", "format": "wav"}}
WITH_AUDIO = [{"role": "user", "content": [{"type": "text", "text": "Listen."}, AUDIO]}]


@pytest.mark.parametrize(
    ("members", "param"),
    [
        *CHAT_ONLY,
        *CHAT_NOWHERE,
        ({"messages": WITH_AUDIO}, "messages.0.content.1"),
        ({"messages": FILE_ID}, "messages.0.content.0.file.file_id"),
    ],
)
def test_what_responses_cannot_say_is_refused_by_its_name_in_chat(members: dict[str, Any], param: str) -> None:
    with pytest.raises(InvalidRequest) as refused:
        as_responses({**HELLO, **members})
    assert refused.value.param == param


RESPONSES_ONLY = [
    ({"truncation": "auto"}, "truncation"),
    ({"background": True}, "background"),
    ({"previous_response_id": "resp_1"}, "previous_response_id"),
    ({"conversation": "conv_1"}, "conversation"),
    ({"prompt": {"id": "pmpt_1"}}, "prompt"),
    ({"include": ["message.output_text.logprobs", "reasoning.encrypted_content"]}, "include.1"),
    ({"reasoning": {"effort": "low", "summary": "auto"}}, "reasoning.summary"),
    ({"text": {"format": {"type": "text"}, "tone": "warm"}}, "text.tone"),
    ({"stream_options": {"include_obfuscation": True}}, "stream_options.include_obfuscation"),
    ({"seed": 0}, "seed"),
]
IMAGE = {"type": "input_image", "image_url": DATA_URL, "detail": "auto"}
RESPONSES_NOWHERE = [
    ({"input": 7}, "input"),
    ({"input": [7]}, "input.0"),
    ({"input": [{"type": "item_reference", "id": "msg_1"}]}, "input.0.type"),
    ({"input": [{"type": "web_search_call", "id": "ws_1"}]}, "input.0.type"),
    ({"input": [{"role": "tool", "content": "1"}]}, "input.0.role"),
    ({"input": [{"role": "user"}]}, "input.0.content"),
    (
        {"input": [{"role": "user", "content": [{"type": "input_image", "file_id": "file-1"}]}]},
        "input.0.content.0.file_id",
    ),
    ({"input": [{"type": "function_call", "call_id": "a", "name": "now"}]}, "input.0.arguments"),
    ({"input": [{"type": "function_call_output", "output": "1"}]}, "input.0.call_id"),
    ({"tools": [{"type": "web_search"}]}, "tools.0.type"),
    ({"tools": [{**FUNCTION, "defer_loading": True}]}, "tools.0.defer_loading"),
    ({"tool_choice": {"type": "web_search"}}, "tool_choice.type"),
    ({"text": {"format": {"type": "grammar"}}}, "text.format.type"),
    ({"instructions": 7}, "instructions"),
    ({"include": "all"}, "include"),
]


@pytest.mark.parametrize(
    ("members", "param"),
    [
        *RESPONSES_ONLY,
        *RESPONSES_NOWHERE,
        ({"input": [{"role": "assistant", "phase": "commentary", "content": "Hm."}]}, "input.0.phase"),
        ({"input": [{"role": "system", "content": [IMAGE]}]}, "input.0.content.0"),
        ({"input": [{"type": "function_call_output", "call_id": "a", "output": [IMAGE]}]}, "input.0.output.0"),
        (
            {"input": [{"role": "user", "content": [{"type": "input_file", "file_url": "https://x.example/a.pdf"}]}]},
            "input.0.content.0.file_url",
        ),
    ],
)
def test_what_chat_cannot_say_is_refused_by_its_name_in_responses(members: dict[str, Any], param: str) -> None:
    with pytest.raises(InvalidRequest) as refused:
        as_chat({**REQUEST, **members})
    assert refused.value.param == param


@pytest.mark.parametrize(("members", "param"), CHAT_ONLY)
def test_what_only_chat_can_say_stays_within_chat(members: dict[str, Any], param: str) -> None:
    body = {**HELLO, **members}
    assert chat_writer.write_request(chat_reader.read_request(body)) == body


@pytest.mark.parametrize(("members", "param"), RESPONSES_ONLY)
def test_what_only_responses_can_say_stays_within_responses(members: dict[str, Any], param: str) -> None:
    written = responses_writer.write_request(responses_reader.read_request({**REQUEST, **members}))
    assert {name: written[name] for name in members} == members


def test_what_asks_for_the_ordinary_is_no_obstacle() -> None:
    silent = {
        "reasoning": {"mode": "standard", "summary": None},
        "background": False,
        "truncation": "disabled",
        "include": [],
        "max_tool_calls": 3,
        "store": True,
    }
    assert as_chat({**REQUEST, **silent, "conversation": None, "stream_options": None}) == HELLO
