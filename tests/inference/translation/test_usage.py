"""An upstream's counts are passed on unchanged, and what is not a count never becomes one."""

from typing import Any

import pytest

from inference.rules.token_usage import read_chat, read_response
from inference.translation.answer import MalformedAnswer
from inference.translation.chat import answer_reader as chat
from inference.translation.chat import answer_writer as written_as_chat
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


def _counts(counted: Any) -> dict[str, int]:
    return {name: count for name, count in counted.quantities.counts().items() if count}
