"""An upstream's counts are passed on unchanged, and what is not a count never becomes one."""

from typing import Any

import pytest

from inference.rules.token_usage import read_chat, read_message, read_response
from inference.translation.answer import MalformedAnswer
from inference.translation.chat import answer_reader as chat
from inference.translation.chat import answer_writer as written_as_chat
from inference.translation.messages import usage as messages
from inference.translation.responses import answer_reader as responses
from inference.translation.responses import answer_writer as written_as_response

GROUPS = [
    (chat.read_usage, "prompt_tokens_details"),
    (chat.read_usage, "completion_tokens_details"),
    (responses.read_usage, "input_tokens_details"),
    (responses.read_usage, "output_tokens_details"),
]


@pytest.mark.parametrize("details", [2, 0, True, "", [], 1.5])
@pytest.mark.parametrize(("read", "group"), GROUPS)
def test_a_group_that_is_no_object_is_no_count(read: Any, group: str, details: Any) -> None:
    with pytest.raises(MalformedAnswer, match=group):
        read({"prompt_tokens": 3, "completion_tokens": 2, "input_tokens": 3, "output_tokens": 2, group: details})


@pytest.mark.parametrize("details", [None, {}])
@pytest.mark.parametrize(("read", "group"), GROUPS)
def test_an_empty_group_says_nothing(read: Any, group: str, details: Any) -> None:
    assert read({group: details}).cached_tokens is None


@pytest.mark.parametrize(
    "beside",
    [
        {"cached_tokens": 4},
        {"cache_write_tokens": 4},
        {"cached_tokens": 2, "cache_write_tokens": 3},
        {"cache_read_input_tokens": 4, "cache_creation_input_tokens": 5},
        {"prompt_cache_hit_tokens": 4, "prompt_cache_miss_tokens": 6},
        {"odd_tokens": 3},
        {"total_tokens": 19},
        {"total_tokens": 19, "odd_tokens": 3, "reasoning_tokens": 4},
        {"cache_creation": {"ephemeral_5m_input_tokens": 1, "ephemeral_1h_input_tokens": 3}},
        {"cache_write_tokens": 5, "cache_creation": {"ephemeral_1h_input_tokens": 3}},
    ],
    ids=str,
)
def test_what_stands_beside_the_totals_is_charged_in_either_format(beside: dict[str, int]) -> None:
    of_chat = {"prompt_tokens": 10, "completion_tokens": 2, **beside}
    of_response = {"input_tokens": 10, "output_tokens": 2, **beside}
    read_as_chat, read_as_response = chat.read_usage(of_chat), responses.read_usage(of_response)
    counted, counted_as_response = _counts(read_chat(of_chat)), _counts(read_response(of_response))
    assert _counts(read_response(written_as_response.write_usage(read_as_chat) or {})) == counted
    assert _counts(read_message(messages.write_usage(read_as_chat) or {})) == counted
    assert _counts(read_chat(written_as_chat.write_usage(read_as_response) or {})) == counted_as_response
    assert _counts(read_message(messages.write_usage(read_as_response) or {})) == counted_as_response


@pytest.mark.parametrize("name", ["cache_creation", "cache_creation_token_details"])
def test_what_is_written_for_an_hour_is_charged_so_in_a_message(name: str) -> None:
    times = {"ephemeral_5m_input_tokens": 2, "ephemeral_1h_input_tokens": 3}
    of_chat = {"prompt_tokens": 10, "completion_tokens": 2, "prompt_tokens_details": {name: times}}
    counted = read_message(messages.write_usage(chat.read_usage(of_chat)) or {})
    assert _counts(counted) == _counts(read_chat(of_chat))
    assert counted.quantities.cache_write_1h_tokens == 3


@pytest.mark.parametrize("group", ["prompt_tokens_details", "completion_tokens_details"])
@pytest.mark.parametrize("tokens", [3, 30])
def test_an_unknown_part_is_charged_and_named_in_a_message(group: str, tokens: int) -> None:
    of_chat = {"prompt_tokens": 10, "completion_tokens": 4, group: {"odd_tokens": tokens}}
    counted, as_message = read_chat(of_chat), messages.write_usage(chat.read_usage(of_chat))
    assert _counts(read_message(as_message or {})) == _counts(counted)
    assert read_message(as_message or {}).others == counted.others == ("odd_tokens",)


def test_reasoning_beside_the_output_is_charged_and_no_unknown_counter_of_a_message() -> None:
    details = {"reasoning_tokens": 7}
    of_chat = {"prompt_tokens": 10, "completion_tokens": 2, "total_tokens": 19, "completion_tokens_details": details}
    counted = read_message(messages.write_usage(chat.read_usage(of_chat)) or {})
    assert (counted.quantities.output_tokens, counted.others) == (9, ())


@pytest.mark.parametrize(
    "details",
    [
        {"cached_tokens": 4},
        {"cache_creation_tokens": 4},
        {"cached_tokens": 2, "cache_creation": {"ephemeral_5m_input_tokens": 1, "ephemeral_1h_input_tokens": 3}},
        {"text_tokens": 9},
    ],
    ids=str,
)
def test_what_is_within_the_totals_is_charged_as_a_message(details: dict[str, Any]) -> None:
    of_chat = {"prompt_tokens": 10, "completion_tokens": 2, "total_tokens": 12, "prompt_tokens_details": details}
    written = messages.write_usage(chat.read_usage(of_chat)) or {}
    assert "total_tokens" not in written
    assert _counts(read_message(written)) == _counts(read_chat(of_chat))


@pytest.mark.parametrize(
    "beside",
    [
        {},
        {"cache_read_input_tokens": 4, "cache_creation_input_tokens": 5},
        {"cache_creation_input_tokens": 4, "cache_creation": {"ephemeral_1h_input_tokens": 3}},
        {"cache_creation": {"ephemeral_5m_input_tokens": 1, "ephemeral_1h_input_tokens": 3}},
        {"cache_creation_input_tokens": 0, "cache_creation": {"ephemeral_5m_input_tokens": 50}},
        {"output_tokens_details": {"thinking_tokens": 1}, "odd_tokens": 3},
        {"cache_creation_input_tokens": 5, "cache_creation": {"ephemeral_1h_input_tokens": 3}},
        {"odd_tokens": 3},
        {"total_tokens": 19},
        {"output_tokens_details": {"thinking_tokens": 1, "odd_tokens": 2}},
        {"input_tokens_details": {"odd_tokens": 40}},
    ],
    ids=str,
)
def test_a_message_is_charged_alike_in_every_format(beside: dict[str, Any]) -> None:
    of_message = {"input_tokens": 10, "output_tokens": 2, **beside}
    read, counted = messages.read_usage(of_message), _counts(read_message(of_message))
    assert _counts(read_chat(written_as_chat.write_usage(read) or {})) == counted
    assert _counts(read_response(written_as_response.write_usage(read) or {})) == counted
    assert _counts(read_message(messages.write_usage(read) or {})) == counted


def _counts(counted: Any) -> dict[str, int]:
    return {name: count for name, count in counted.quantities.counts().items() if count}
