"""Several choices of one chat: each ends by the reason for which it ended."""

from collections.abc import Iterator
from typing import Any

import orjson
import pytest

from tests.inference.routes.scripted_upstream import ScriptedUpstream
from tests.support.stage import Stage, chat

Json = dict[str, Any]

WORD = "badgers sleep "


@pytest.fixture
def scripted() -> Iterator[ScriptedUpstream]:
    with ScriptedUpstream() as running:
        yield running


def chunk(index: int, text: str | None = None, finish_reason: str | None = None) -> Json:
    """Make a chunk of one choice."""
    delta = {} if text is None else {"content": text}
    choice = {"index": index, "delta": delta, "finish_reason": finish_reason}
    return {"id": "c", "object": "chat.completion.chunk", "model": "m", "choices": [choice]}


def ends_of(stage: Stage, scripted: ScriptedUpstream, events: list[Json], choices: int) -> list[tuple[int, str]]:
    """Stream these events to a client whose choices may have four tokens each, and tell how each choice ended."""
    scripted.player.says = events
    upstream = stage.upstream_row(base_url=scripted.base_url)
    alias, caller = stage.model(upstream=upstream, max_output_tokens=4), stage.caller()
    with caller.stream(chat(alias, n=choices)) as answer:
        lines = [line.removeprefix("data: ") for line in answer.iter_lines() if line.startswith("data: {")]
    assert caller.only_call.usage_record.basis == "delivered"
    all_choices = [choice for line in lines for choice in orjson.loads(line)["choices"]]
    return [(choice["index"], choice["finish_reason"]) for choice in all_choices if choice["finish_reason"]]


def test_a_choice_that_ended_by_itself_is_not_reported_as_cut(stage: Stage, scripted: ScriptedUpstream) -> None:
    events = [chunk(0, WORD), chunk(0, None, "stop"), *(chunk(1, WORD) for _ in range(60))]
    assert ends_of(stage, scripted, events, 3) == [(0, "stop"), (1, "length"), (2, "length")]


def test_an_end_that_the_client_has_not_seen_is_a_cut(stage: Stage, scripted: ScriptedUpstream) -> None:
    events = [*(chunk(1, WORD) for _ in range(8)), chunk(1, WORD), chunk(0, None, "stop"), chunk(1, WORD)]
    assert ends_of(stage, scripted, events, 2) == [(0, "length"), (1, "length")]


def test_a_stream_whose_every_choice_has_ended_gets_no_further_end(stage: Stage, scripted: ScriptedUpstream) -> None:
    silence = [chunk(0, "")] * 8
    events = [chunk(0, None, "stop"), *silence, *(chunk(0, WORD) for _ in range(60))]
    assert ends_of(stage, scripted, events, 1) == [(0, "stop")]


@pytest.mark.parametrize("index", [None, "0", 1.5, -1, 10**15, True, [0]])
def test_an_end_of_no_choice_ends_none(stage: Stage, scripted: ScriptedUpstream, index: Any) -> None:
    events = [chunk(index, None, "stop"), *(chunk(0, WORD) for _ in range(60))]
    assert (0, "length") in ends_of(stage, scripted, events, 1)
