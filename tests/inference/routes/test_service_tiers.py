"""Service tiers of chats and responses: what is sent, held and charged, as JSON and as a stream, also by translation."""

import json
import math
from datetime import timedelta
from decimal import Decimal
from typing import Any
from urllib.parse import quote

import pytest
from django.utils import timezone

from billing.operations import reviews
from tests.support.stage import CHAT, RESPONSES, Caller, Stage, ask, chat

PRICE: dict[str, Any] = {
    "input_token": "2",
    "output_token": "8",
    "service_tiers": {
        "flex": {"input_token": "1", "output_token": "4"},
        "priority": {"input_token": "3", "output_token": "16"},
    },
}
DEFAULT, FLEX, PRIORITY = (Decimal(2), Decimal(8)), (Decimal(1), Decimal(4)), (Decimal(3), Decimal(16))
TOKENS, LIMIT = 10, 50
BODIES = {CHAT: chat, RESPONSES: ask}
OTHER = {CHAT: "responses", RESPONSES: "chat.completions"}
EVERY_WAY = [
    pytest.param(
        path, streams, options, id=f"{path.rpartition('/')[2]}{'-stream' * streams}{'-translated' * bool(options)}"
    )
    for path in BODIES
    for streams in (False, True)
    for options in ({}, {"routes": [OTHER[path]]})
]
every_way = pytest.mark.parametrize(("path", "streams", "options"), EVERY_WAY)
both = pytest.mark.parametrize("path", BODIES)


def call(
    stage: Stage, behaviour: str, path: str = CHAT, *, price: Any = PRICE, options: Any = None, **members: Any
) -> tuple[Caller, Any]:
    upstream = stage.upstream_row(options=options or {})
    alias = stage.model(f"small-1?tokens={TOKENS}{behaviour}", upstream=upstream, max_output_tokens=LIMIT, price=price)
    caller = stage.caller()
    return caller, caller.post(BODIES[path](alias, **members), path=path)


def reporting(*tiers: Any) -> str:
    return f"&service_tiers={quote(json.dumps(tiers))}"


def charge_at(caller: Caller, prices: tuple[Decimal, Decimal]) -> int:
    record = caller.only_call.usage_record
    return math.ceil(record.input_tokens * prices[0] + TOKENS * prices[1])


def assert_charged(caller: Caller, prices: tuple[Decimal, Decimal], tier: str | None) -> None:
    made = caller.only_call
    assert (made.state, made.usage_record.basis, made.usage_record.service_tier) == ("settled", "upstream", tier)
    assert made.charge_microusd == charge_at(caller, prices) <= made.hold_microusd


@every_way
@pytest.mark.parametrize("asked", [{}, {"service_tier": None}, {"service_tier": "auto"}, {"service_tier": "default"}])
def test_the_default_is_sent_by_its_name(stage: Stage, path: str, streams: bool, options: Any, asked: Any) -> None:
    caller, answer = call(stage, "", path, options=options, stream=streams, **asked)
    assert answer.status_code == 200, answer.text
    assert stage.upstream.ledger.entries[0].body["service_tier"] == "default"
    assert_charged(caller, DEFAULT, None)


@every_way
@pytest.mark.parametrize(
    ("reported", "prices", "tier"),
    [
        ("flex", FLEX, "flex"),
        ("default", DEFAULT, None),
        ("priority", PRIORITY, "priority"),
        ("scale", FLEX, "flex"),
        ("auto", FLEX, "flex"),
        (None, FLEX, "flex"),
        (7, FLEX, "flex"),
        (["default"], FLEX, "flex"),
        ({"default": 1}, FLEX, "flex"),
    ],
    ids=str,
)
def test_the_reported_tier_is_charged_if_it_has_a_price(
    stage: Stage, path: str, streams: bool, options: Any, reported: Any, prices: Any, tier: str | None
) -> None:
    caller, answer = call(stage, reporting(reported), path, options=options, stream=streams, service_tier="flex")
    assert answer.status_code == 200, answer.text
    assert stage.upstream.ledger.entries[0].body["service_tier"] == "flex"
    if tier != "priority":  # the hold covers the tier asked for, and the default one
        assert_charged(caller, prices, tier)
    else:
        made = caller.only_call
        assert made.usage_record.service_tier == tier
        assert made.charge_microusd == min(charge_at(caller, prices), made.hold_microusd)
    if reported is not None and not streams:
        assert answer.json()["service_tier"] == reported


@every_way
def test_the_hold_covers_the_tier_that_was_asked_for(stage: Stage, path: str, streams: bool, options: Any) -> None:
    plain, _ = call(stage, "", path, options=options, stream=streams)
    dear, answer = call(stage, "", path, options=options, stream=streams, service_tier="priority")
    assert answer.status_code == 200, answer.text
    assert_charged(dear, PRIORITY, "priority")
    assert dear.only_call.hold_microusd > plain.only_call.hold_microusd
    cheap, _ = call(stage, "", path, options=options, stream=streams, service_tier="flex")
    size = len('"service_tier":"flex",')
    assert cheap.only_call.hold_microusd == plain.only_call.hold_microusd + size * 2


@pytest.mark.parametrize("options", [{}, {"routes": ["responses"]}], ids=["own", "translated"])
@pytest.mark.parametrize(
    ("tiers", "prices", "tier"),
    [
        (["default", "flex"], FLEX, "flex"),
        (["flex", "default"], DEFAULT, None),
        ([None, None, "flex"], FLEX, "flex"),
        (["flex", None], FLEX, "flex"),
        (["priority", 7, "flex"], FLEX, "flex"),
    ],
    ids=str,
)
def test_the_last_tier_of_a_stream_counts(stage: Stage, options: Any, tiers: Any, prices: Any, tier: Any) -> None:
    caller, answer = call(stage, reporting(*tiers), options=options, stream=True, service_tier="flex")
    assert answer.status_code == 200
    assert_charged(caller, prices, tier)


def test_a_chat_streams_the_tier_in_its_last_event_alone(stage: Stage) -> None:
    tiers = [*[None] * (TOKENS + 2), "default"]
    caller, _ = call(stage, reporting(*tiers), stream=True, service_tier="flex")
    assert_charged(caller, DEFAULT, None)


@both
@pytest.mark.parametrize(
    "tier", ["scale", "standard", "standard_only", "Flex", "", "default ", 1, True, ["flex"], {"flex": 1}], ids=str
)
@pytest.mark.parametrize("price", [PRICE, {"input_token": "2", "output_token": "8"}], ids=["tiers", "none"])
def test_a_tier_without_a_price_is_refused(stage: Stage, path: str, tier: Any, price: Any) -> None:
    caller, answer = call(stage, "", path, price=price, service_tier=tier)
    error = answer.json()["error"]
    assert (answer.status_code, error["code"], error["param"]) == (400, "invalid_request", "service_tier")
    assert (caller.calls, len(stage.upstream.ledger)) == ([], 0)


@both
def test_a_bad_tier_is_named_before_a_model_that_is_not_available(stage: Stage, path: str) -> None:
    alias, caller = stage.model(enabled=False, price=PRICE), stage.caller()
    assert caller.post(BODIES[path](alias, service_tier="scale"), path=path).status_code == 400
    assert caller.post(BODIES[path](alias, service_tier="flex"), path=path).status_code == 503


@both
def test_a_maximum_below_the_tier_buys_nothing(stage: Stage, path: str) -> None:
    alias, caller = stage.model(max_output_tokens=LIMIT, price=PRICE), stage.caller()
    limit = {CHAT: "max_tokens", RESPONSES: "max_output_tokens"}[path]
    body = BODIES[path](alias, service_tier="priority", **{limit: LIMIT})
    refused = caller.post(body, path=path, max_cost=700)
    assert (refused.status_code, refused.json()["error"]["code"]) == (402, "max_cost_exceeded")
    required = refused.json()["error"]["details"]["requiredMicrousd"]
    assert caller.post(body, path=path, max_cost=required).status_code == 200
    assert caller.only_call.hold_microusd == required


def test_the_usage_states_the_tier(stage: Stage) -> None:
    alias, caller = (
        stage.model("small-1", price=PRICE, max_output_tokens=LIMIT),
        stage.caller(scopes=("infer:*", "usage:read")),
    )
    for tier in ("flex", "default"):
        caller.post(chat(alias, service_tier=tier))
    assert [row["serviceTier"] for row in caller.get("/v1/usage").json()["data"]] == [None, "flex"]


@pytest.mark.parametrize("streams", [False, True])
@pytest.mark.parametrize(
    ("recorded", "prices", "tier"), [({}, FLEX, "flex"), ({"service_tier": "default"}, DEFAULT, None)]
)
def test_a_call_that_is_looked_up_keeps_its_tier(
    stage: Stage, streams: bool, recorded: Any, prices: Any, tier: str | None
) -> None:
    options = {"looks_up": "generations"}
    caller, _ = call(stage, "&cut=mid_body", options=options, stream=streams, service_tier="flex")
    assert caller.only_call.state == "review"
    stage.upstream.records.changed = recorded
    reviews.reconcile(now=timezone.now() + timedelta(days=1))
    assert_charged(caller, prices, tier)


@pytest.mark.parametrize("streams", [False, True])
def test_a_stream_that_breaks_off_is_charged_at_the_tier_that_it_reported(stage: Stage, streams: bool) -> None:
    caller, _ = call(stage, f"&cut=mid_stream{reporting('flex')}", stream=True, service_tier="flex")
    assert (caller.only_call.state, caller.only_call.evidence["service_tier"]) == ("review", "flex")
    reviews.reconcile(now=timezone.now())
    assert caller.only_call.usage_record.service_tier == "flex"


@both
def test_an_upstream_that_knows_no_tiers_is_told_none(stage: Stage, path: str) -> None:
    caller, answer = call(stage, "", path, options={"service_tiers": False})
    assert answer.status_code == 200
    assert "service_tier" not in stage.upstream.ledger.entries[0].body
    assert_charged(caller, DEFAULT, None)
