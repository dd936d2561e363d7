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
    assert _counts(read_response(written_as_response.write_usage(chat.read_usage(of_chat)) or {})) == _counts(
        read_chat(of_chat)
    )
    assert _counts(read_chat(written_as_chat.write_usage(responses.read_usage(of_response)) or {})) == _counts(
        read_response(of_response)
    )
    for counts, read in (
        (_counts(read_chat(of_chat)), chat.read_usage(of_chat)),
        (_counts(read_response(of_response)), responses.read_usage(of_response)),
    ):
        assert _counts(read_message(messages.write_usage(read) or {})) == counts


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
    ],
    ids=str,
)
def test_what_a_message_counts_is_charged_in_the_other_formats(beside: dict[str, Any]) -> None:
    usage = {"input_tokens": 10, "output_tokens": 2, **beside}
    read = messages.read_usage(usage)
    due = _counts(read_message(usage))
    assert _counts(read_chat(written_as_chat.write_usage(read) or {})) == due
    assert _counts(read_response(written_as_response.write_usage(read) or {})) == due
    assert _counts(read_message(messages.write_usage(read) or {})) == due


def _counts(counted: Any) -> dict[str, int]:
    return {name: count for name, count in counted.quantities.counts().items() if count}
