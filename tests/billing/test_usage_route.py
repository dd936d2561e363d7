"""`GET /v1/usage`."""

from typing import Any

import pytest
from django.test import Client

from billing.models import Call, UsageRecord
from gateway.core.api.times import rfc3339
from tests.factories.accounts import Caller, make_caller
from tests.factories.billing import Purse, release, review, settle

PATH = "/v1/usage"
UNMETERED = {
    "inputTokens": None,
    "cachedInputTokens": None,
    "cacheWriteTokens": None,
    "outputTokens": None,
    "inputAudioTokens": None,
    "outputAudioTokens": None,
    "images": None,
    "inputCharacters": None,
    "inputBytes": None,
    "items": None,
    "seconds": None,
    "serviceTier": None,
    "priceBand": None,
}


@pytest.fixture
def caller(db: None) -> Caller:
    """A person who may look at usage."""
    return make_caller("usage:read")


@pytest.fixture
def purse(caller: Caller) -> Purse:
    """The caller's wallet."""
    return Purse("account", caller.account.did).pay(100_000)


def usage(client: Client, caller: Caller, query: str = "") -> list[dict[str, Any]]:
    response = client.get(PATH + query, headers=caller.headers("GET", PATH))
    assert response.status_code == 200, response.content
    body = response.json()
    assert list(body) == ["data"]
    return body["data"]


def test_is_empty_before_the_first_call(client: Client, caller: Caller) -> None:
    assert usage(client, caller) == []


def test_shows_a_settled_call(client: Client, caller: Caller, purse: Purse) -> None:
    call = purse.call(400, "my-key", request_id="req_1", product="studio")
    settle(call, 123, quantities={"input_tokens": 30, "cached_input_tokens": 0, "output_tokens": 7})
    assert usage(client, caller) == [
        {
            "usageId": call,
            "requestId": "req_1",
            "route": "chat.completions",
            "model": "fast",
            "product": "studio",
            "orgId": None,
            "membershipId": None,
            "status": "settled",
            **UNMETERED,
            "inputTokens": 30,
            "cachedInputTokens": 0,
            "outputTokens": 7,
            "heldMicrousd": 0,
            "chargedMicrousd": 123,
            "createdAt": rfc3339(Call.objects.get(pk=call).created_at),
            "settledAt": rfc3339(UsageRecord.objects.get(pk=call).settled_at),
            "idempotencyKey": "my-key",
        }
    ]


def test_shows_every_quantity_under_its_name(client: Client, caller: Caller, purse: Purse) -> None:
    quantities = {
        "input_tokens": 90,
        "cached_input_tokens": 10,
        "cache_write_tokens": 20,
        "cache_write_1h_tokens": 15,
        "output_tokens": 80,
        "input_audio_tokens": 30,
        "output_audio_tokens": 40,
        "images": 5,
        "input_characters": 6,
        "input_bytes": 7,
        "items": 8,
        "seconds": 9,
        "service_tier": "flex",
        "price_band": 50,
    }
    settle(purse.call(400), 5, quantities=quantities)
    [record] = usage(client, caller)
    assert {name: record[name] for name in UNMETERED} == {
        "inputTokens": 90,
        "cachedInputTokens": 10,
        "cacheWriteTokens": 20,
        "outputTokens": 80,
        "inputAudioTokens": 30,
        "outputAudioTokens": 40,
        "images": 5,
        "inputCharacters": 6,
        "inputBytes": 7,
        "items": 8,
        "seconds": 9,
        "serviceTier": "flex",
        "priceBand": 50,
    }


def test_shows_every_state_newest_first(client: Client, caller: Caller, purse: Purse) -> None:
    dispatched, reviewed, released, settled = (purse.call(amount) for amount in (20, 30, 40, 50))
    review(reviewed)
    release(released)
    settle(settled, 5)
    shown = [(r["usageId"], r["status"], r["heldMicrousd"], r["chargedMicrousd"]) for r in usage(client, caller)]
    assert shown == [
        (settled, "settled", 0, 5),
        (released, "released", 0, 0),
        (reviewed, "reconciling", 30, 0),
        (dispatched, "held", 20, 0),
    ]


def test_lists_as_many_as_are_requested(client: Client, caller: Caller, purse: Purse) -> None:
    calls = [purse.reserve(1).usage_id for _ in range(25)]
    newest = list(reversed(calls))
    assert [record["usageId"] for record in usage(client, caller, "?limit=3")] == newest[:3]
    assert [record["usageId"] for record in usage(client, caller)] == newest[:20]
    assert [record["usageId"] for record in usage(client, caller, "?limit=100")] == newest


@pytest.mark.parametrize("limit", ["0", "101", "-1", "1.5", "ten", "", "1e1", "%D9%A1", "5&limit=6"])
def test_refuses_a_limit_out_of_range(client: Client, caller: Caller, limit: str) -> None:
    response = client.get(f"{PATH}?limit={limit}", headers=caller.headers("GET", PATH))
    error = response.json()["error"]
    assert (response.status_code, error["code"], error["param"]) == (400, "invalid_request", "limit")


def test_shows_nobody_elses_calls(client: Client, caller: Caller) -> None:
    Purse().pay(100).reserve(10)
    assert usage(client, caller) == []


def test_asks_the_database_a_fixed_number_of_times(
    client: Client, caller: Caller, purse: Purse, django_assert_max_num_queries: Any
) -> None:
    for _ in range(10):
        settle(purse.call(10), 5)
    with django_assert_max_num_queries(6):
        assert len(usage(client, caller)) == 10


def test_needs_its_scope(client: Client, db: None) -> None:
    caller = make_caller("wallet:read")
    response = client.get(PATH, headers=caller.headers("GET", PATH))
    assert (response.status_code, response.json()["error"]["code"]) == (403, "insufficient_scope")
