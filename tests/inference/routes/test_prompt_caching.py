"""Explicit caching of chats and responses: it passes where writing has a price, and what was written is charged at it."""

import math
from decimal import Decimal
from typing import Any

import pytest
from django.utils import timezone

from billing.operations import prices
from inference.queries import catalogue
from tests.inference.routes.member_table import assert_refused
from tests.support.stage import CHAT, RESPONSES, Caller, Stage, ask, chat

PLAIN = {"input_token": "2", "output_token": "8"}
SHORT = {**PLAIN, "cache_write_token": "3", "cached_input_token": "0.5"}
LONG = {**SHORT, "cache_write_1h_token": "5"}
ONLY_LONG = {**PLAIN, "cache_write_1h_token": "5"}
TOKENS, LIMIT = 10, 50
BODIES = {CHAT: chat, RESPONSES: ask}
FUNCTION: Any = {"name": "weather", "parameters": {"type": "object"}}
BREAKPOINT: Any = {"mode": "explicit"}


def message(control: Any, name: str = "cache_control") -> Any:
    return {"messages": [{"role": "user", "content": [{"type": "text", "text": "word " * 100, name: control}]}]}


def item(control: Any, name: str = "cache_control") -> Any:
    return {"input": [{"role": "user", "content": [{"type": "input_text", "text": "word " * 100, name: control}]}]}


def places(control: Any) -> list[tuple[str, dict[str, Any], str]]:
    """List where a chat and a response may ask for a cache, and the name of the member."""
    tool, flat = {"type": "function", "function": FUNCTION}, {"type": "function", **FUNCTION}
    said: Any = [{"role": "user", "content": "word " * 100}]
    return [
        (CHAT, message(control), "messages.0.content.0.cache_control"),
        (CHAT, {"messages": [{**said[0], "cache_control": control}]}, "messages.0.cache_control"),
        (CHAT, {"messages": said, "cache_control": control}, "cache_control"),
        (CHAT, {"messages": said, "tools": [{**tool, "cache_control": control}]}, "tools.0.cache_control"),
        (
            CHAT,
            {"messages": said, "tools": [{**tool, "function": {**FUNCTION, "cache_control": control}}]},
            "tools.0.function.cache_control",
        ),
        (RESPONSES, item(control), "input.0.content.0.cache_control"),
        (RESPONSES, {"input": [{**said[0], "cache_control": control}]}, "input.0.cache_control"),
        (RESPONSES, {"cache_control": control}, "cache_control"),
        (RESPONSES, {"tools": [{**flat, "cache_control": control}]}, "tools.0.cache_control"),
    ]


OPTIONS = [
    (CHAT, {"prompt_cache_options": {"mode": "explicit"}}, "prompt_cache_options"),
    (RESPONSES, {"prompt_cache_options": {"mode": "implicit"}}, "prompt_cache_options"),
    (CHAT, message(BREAKPOINT, "prompt_cache_breakpoint"), "messages.0.content.0.prompt_cache_breakpoint"),
    (RESPONSES, item(BREAKPOINT, "prompt_cache_breakpoint"), "input.0.content.0.prompt_cache_breakpoint"),
]
EVERY = [*places({"type": "ephemeral"}), *OPTIONS]
EVERY_LONG = [
    *places({"type": "ephemeral", "ttl": "1h"}),
    (CHAT, {"prompt_cache_options": {"ttl": "30m"}}, "prompt_cache_options"),
    (
        RESPONSES,
        item({**BREAKPOINT, "ttl": "12h"}, "prompt_cache_breakpoint"),
        "input.0.content.0.prompt_cache_breakpoint",
    ),
]


def call(stage: Stage, path: str, price: Any, behaviour: str = "", **members: Any) -> tuple[Caller, Any]:
    alias = stage.model(f"small-1?tokens={TOKENS}{behaviour}", price=price, max_output_tokens=LIMIT)
    caller = stage.caller()
    return caller, caller.post(BODIES[path](alias, **members), path=path)


@pytest.mark.parametrize(("path", "members", "param"), [*EVERY, *EVERY_LONG])
def test_a_cache_whose_writes_have_no_price_is_refused(stage: Stage, path: str, members: Any, param: str) -> None:
    caller, answer = call(stage, path, PLAIN, **members)
    assert_refused(stage, caller, answer, param)


@pytest.mark.parametrize(("path", "members", "param"), EVERY)
def test_a_price_for_an_hour_does_not_cover_five_minutes(stage: Stage, path: str, members: Any, param: str) -> None:
    caller, answer = call(stage, path, ONLY_LONG, **members)
    assert_refused(stage, caller, answer, param)


@pytest.mark.parametrize(
    ("path", "members", "price"),
    [
        *((path, members, SHORT) for path, members, _ in [*EVERY, *EVERY_LONG]),
        *((path, members, ONLY_LONG) for path, members, _ in EVERY_LONG),
        (CHAT, message({"type": "ephemeral"}), {"request": "5"}),
    ],
)
def test_a_cache_whose_writes_have_a_price_passes(stage: Stage, path: str, members: Any, price: Any) -> None:
    _, answer = call(stage, path, price, **members)
    assert answer.status_code == 200, answer.text
    sent = stage.upstream.ledger.entries[0].body
    assert {name: sent[name] for name in members} == members


@pytest.mark.parametrize("streams", [False, True], ids=["json", "stream"])
@pytest.mark.parametrize(
    ("asked", "behaviour", "written"),
    [
        ({"type": "ephemeral"}, "&cache_write_tokens=60", (60, 0)),
        ({"type": "ephemeral", "ttl": "5m"}, "&cache_write_tokens=60", (60, 0)),
        ({"type": "ephemeral", "ttl": "1h"}, "&cache_write_tokens=60", (0, 60)),
        ({"type": "ephemeral", "ttl": "1h"}, "&cache_write_tokens=60&cache_write_1h_tokens=20", (40, 20)),
        ({"type": "ephemeral"}, "&cache_write_tokens=60&cache_write_1h_tokens=60", (0, 60)),
    ],
)
@pytest.mark.parametrize("path", BODIES)
def test_what_was_written_is_charged_at_its_time(
    stage: Stage, path: str, asked: Any, behaviour: str, written: tuple[int, int], streams: bool
) -> None:
    members = {CHAT: message, RESPONSES: item}[path](asked)
    caller, answer = call(stage, path, LONG, f"&cached_tokens=7{behaviour}", stream=streams, **members)
    assert answer.status_code == 200, answer.text
    made, record = caller.only_call, caller.only_call.usage_record
    short, long = written
    plain = record.input_tokens - short - long - 7
    due = 2 * plain + Decimal("0.5") * 7 + 3 * short + 5 * long + 8 * TOKENS
    assert (made.state, made.charge_microusd) == ("settled", math.ceil(due))
    assert (record.cache_write_tokens, record.cache_write_1h_tokens or 0) == (short + long, long)
    assert made.charge_microusd <= made.hold_microusd


@pytest.mark.parametrize(
    ("members", "highest"),
    [
        ({}, 3),
        ({"prompt_cache_retention": "in_memory"}, 3),
        ({"prompt_cache_retention": "24h"}, 5),
        ({"prompt_cache_options": {"mode": "implicit"}}, 3),
        ({"prompt_cache_options": {"mode": "implicit", "ttl": "30m"}}, 5),
        ({"cache_control": {"type": "ephemeral", "ttl": "1h"}}, 5),
        ({"cache_control": {"type": "ephemeral", "ttl": "5m"}}, 3),
    ],
    ids=str,
)
@pytest.mark.parametrize("path", BODIES)
def test_the_hold_covers_the_longest_time_that_was_asked_for(
    stage: Stage, path: str, members: Any, highest: int
) -> None:
    caller, answer = call(stage, path, {**LONG, "output_token": "0"}, **members)
    assert answer.status_code == 200, answer.text
    hold = caller.only_call.hold_microusd
    free, _ = call(stage, path, {"input_token": "1", "output_token": "0", "cache_write_token": "1"}, **members)
    assert hold / highest == pytest.approx(free.only_call.hold_microusd, abs=2)


@pytest.mark.parametrize("path", BODIES)
@pytest.mark.parametrize(
    ("members", "param"),
    [
        ({"cache_control": "ephemeral"}, "cache_control"),
        ({"cache_control": []}, "cache_control"),
        ({"cache_control": {"type": "persistent"}}, "cache_control.type"),
        ({"cache_control": {"type": ["ephemeral"]}}, "cache_control.type"),
        ({"cache_control": {"type": "ephemeral", "ttl": 300}}, "cache_control.ttl"),
        ({"cache_control": {"type": "ephemeral", "ttl": "soon"}}, "cache_control.ttl"),
        ({"cache_control": {"type": "ephemeral", "ttl": "0m"}}, "cache_control.ttl"),
        ({"cache_control": {"type": "ephemeral", "scope": "global"}}, "cache_control.scope"),
        ({"cache_control_injection_points": []}, "cache_control_injection_points"),
        ({"prompt_cache_options": "explicit"}, "prompt_cache_options"),
        ({"prompt_cache_options": {"mode": "always"}}, "prompt_cache_options.mode"),
        ({"prompt_cache_options": {"ttl": {}}}, "prompt_cache_options.ttl"),
        ({"prompt_cache_options": {"prewarm": True}}, "prompt_cache_options.prewarm"),
        ({"prompt_cache_retention": "for ever"}, "prompt_cache_retention"),
        ({"prompt_cache_retention": 24}, "prompt_cache_retention"),
        ({"prompt_cache_retention": ["24h"]}, "prompt_cache_retention"),
    ],
    ids=str,
)
def test_what_makes_no_sense_is_named(stage: Stage, path: str, members: Any, param: str) -> None:
    caller, answer = call(stage, path, LONG, **members)
    assert_refused(stage, caller, answer, param)


@pytest.mark.parametrize("path", BODIES)
@pytest.mark.parametrize(
    "members", [{"prompt_cache_key": "a"}, {"prompt_cache_retention": "24h"}, {"prompt_cache_retention": "in_memory"}]
)
def test_what_only_makes_input_cheaper_passes_without_a_price(stage: Stage, path: str, members: Any) -> None:
    _, answer = call(stage, path, PLAIN, **members)
    assert answer.status_code == 200, answer.text
    assert stage.upstream.ledger.entries[0].body.items() >= members.items()


def test_a_stored_conversation_keeps_what_it_asked_for(stage: Stage) -> None:

    alias, caller = stage.model("small-1", price=LONG, max_output_tokens=LIMIT), stage.caller()
    first = caller.post(ask(alias, **item({"type": "ephemeral", "ttl": "1h"})), path=RESPONSES).json()
    again = ask(alias, previous_response_id=first["id"])
    assert caller.post(again, path=RESPONSES).status_code == 200
    assert "cache_control" in stage.upstream.ledger.entries[1].body["input"][0]["content"][0]
    prices.publish(alias, PLAIN, now=timezone.now())
    catalogue.forget()
    refused = caller.post(again, path=RESPONSES)
    assert (refused.status_code, refused.json()["error"]["param"]) == (400, "previous_response_id.cache_control")


@pytest.mark.parametrize("streams", [False, True], ids=["json", "stream"])
@pytest.mark.parametrize(
    "behaviour",
    [
        "&cache_write_tokens=5000",
        "&cached_tokens=100&cache_write_tokens=100",
        "&cache_write_tokens=20&cache_write_1h_tokens=30",
    ],
)
def test_more_written_than_sent_is_malformed(stage: Stage, behaviour: str, streams: bool) -> None:
    caller, answer = call(stage, CHAT, LONG, behaviour, stream=streams, **message({"type": "ephemeral"}))
    assert answer.status_code == (200 if streams else 502)
    assert caller.only_call.state == "review"
