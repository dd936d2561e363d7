"""Streams of messages that are told in another order than they may be, or twice: as they are, and translated."""

from typing import Any

import pytest

from tests.inference.misbehaviour.honest import streamed
from tests.inference.misbehaviour.rows.text import MESSAGE_EVENTS
from tests.inference.misbehaviour.wire import MisbehavingUpstream, Play
from tests.support.stage import CHAT, MESSAGE, RESPONSES, Caller, Stage, ask, chat, message
from tests.support.upstream.stream import Frame

BODIES = {CHAT: chat, MESSAGE: message, RESPONSES: ask}
BALANCE = 50_000
INPUT_TOKENS = 7
START, PING, *MIDDLE, END, STOP = MESSAGE_EVENTS
OVERLOADED = {"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}}

each = pytest.mark.parametrize("path", BODIES)


def ended(**usage: Any) -> dict[str, Any]:
    """Return the event with the reason of the end, and this usage."""
    return {**END, "usage": usage}


def play(misbehaving: MisbehavingUpstream, *events: Any) -> None:
    frames = [Frame(event, name=str(event["type"])).encode() for event in events]
    misbehaving.play, misbehaving.requests = Play(streamed(frames, ends=True)), []


def send(stage: Stage, misbehaving: MisbehavingUpstream, path: str) -> tuple[Caller, Any]:
    upstream = stage.upstream_row(adapter="anthropic", base_url=misbehaving.base_url)
    alias, caller = stage.model(upstream=upstream, max_output_tokens=30), stage.caller(balance=BALANCE)
    return caller, caller.post(BODIES[path](alias, stream=True), path=path)


def assert_money(caller: Caller, state: str, output_tokens: int = 0) -> None:
    call = caller.only_call
    charge = -(-(INPUT_TOKENS * 15 + output_tokens * 60) // 100)
    assert (call.state, call.charge_microusd or 0) == (state, {"settled": charge}.get(state, 0))
    held = call.hold_microusd if state == "review" else 0
    assert caller.wallet == {"balance": BALANCE - (call.charge_microusd or 0), "held": held, "debt": 0}


@each
def test_an_overload_before_the_first_event_is_tried_again_and_costs_nothing(
    stage: Stage, misbehaving: MisbehavingUpstream, path: str
) -> None:
    play(misbehaving, OVERLOADED)
    caller, answer = send(stage, misbehaving, path)
    assert (answer.status_code, answer.json()["error"]["code"]) == (503, "upstream_overloaded")
    assert len(misbehaving.requests) == 3
    assert_money(caller, "released")


@each
def test_an_overload_after_the_first_event_breaks_the_stream(
    stage: Stage, misbehaving: MisbehavingUpstream, path: str
) -> None:
    play(misbehaving, START, OVERLOADED)
    caller, answer = send(stage, misbehaving, path)
    assert (answer.status_code, "upstream_error" in answer.text) == (200, True)
    assert len(misbehaving.requests) == 1
    assert_money(caller, "review")


@each
@pytest.mark.parametrize(
    ("events", "output_tokens"),
    [
        ([START, PING, *MIDDLE, ended(output_tokens=16), ended(output_tokens=16), STOP], 16),
        ([START, PING, *MIDDLE, ended(output_tokens=5), ended(output_tokens=16), STOP], 16),
        ([START, PING, PING, *MIDDLE, PING, ended(output_tokens=16), PING, STOP], 16),
        ([START, *MIDDLE, {"type": "newer", "of": "the vendor"}, ended(output_tokens=16), STOP], 16),
        ([START, *MIDDLE, ended(output_tokens=16), STOP, START, ended(output_tokens=2000), STOP], 16),
    ],
    ids=["told twice", "growing", "pings", "an unknown event", "more after the end"],
)
def test_what_is_told_last_is_charged_once(
    stage: Stage, misbehaving: MisbehavingUpstream, path: str, events: Any, output_tokens: int
) -> None:
    play(misbehaving, *events)
    caller, answer = send(stage, misbehaving, path)
    assert (answer.status_code, "upstream_" in answer.text) == (200, False)
    assert_money(caller, "settled", output_tokens)


@each
@pytest.mark.parametrize(
    "events",
    [
        [START, PING, *MIDDLE, STOP],
        [START, PING, *MIDDLE, {**END, "usage": None}, STOP],
        [{**START, "message": {**START["message"], "usage": None}}, *MIDDLE, ended(output_tokens=16), STOP],
        [*MIDDLE, ended(output_tokens=16), STOP],
        [STOP],
    ],
    ids=["no end", "no output", "no input", "no beginning", "nothing"],
)
def test_what_was_not_told_is_never_made_up(
    stage: Stage, misbehaving: MisbehavingUpstream, path: str, events: Any
) -> None:
    play(misbehaving, *events)
    caller, _ = send(stage, misbehaving, path)
    assert_money(caller, "review")


@pytest.mark.parametrize(
    "event",
    [
        START,
        {"type": 7, "index": 0},
        {"type": "ping\ndata: x"},
        {"type": "message_start"},
        {"type": "content_block_start", "index": 1},
        {"type": "content_block_start", "index": 1, "content_block": {"type": None}},
        {"type": "message_delta", "delta": {}, "usage": [1]},
    ],
    ids=str,
)
def test_an_event_that_is_none_breaks_the_stream(stage: Stage, misbehaving: MisbehavingUpstream, event: Any) -> None:
    play(misbehaving, START, event, *MIDDLE, END, STOP)
    caller, answer = send(stage, misbehaving, MESSAGE)
    assert (answer.status_code, "upstream_invalid" in answer.text) == (200, True)
    assert_money(caller, "review")
