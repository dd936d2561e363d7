"""An upstream's counts are passed on unchanged, and what is not a count never becomes one."""

from typing import Any

import pytest

from inference.translation.answer import MalformedAnswer
from inference.translation.chat import answer_reader as chat
from inference.translation.responses import answer_reader as responses

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
