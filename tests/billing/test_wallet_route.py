"""`GET /v1/wallet`."""

from datetime import timedelta
from typing import Any

import pytest
from django.test import Client
from django.utils import timezone

from gateway.core.api.times import rfc3339
from tests.factories.accounts import Caller, make_caller
from tests.factories.billing import Purse, settle

EMPTY: dict[str, Any] = {
    "currency": "USD",
    "balanceMicrousd": 0,
    "creditsMicrousd": 0,
    "heldMicrousd": 0,
    "availableMicrousd": 0,
    "debtMicrousd": 0,
    "credits": [],
}


def purse_of(caller: Caller) -> Purse:
    return Purse("account", caller.account.did)


def wallet(client: Client, caller: Caller) -> dict[str, Any]:
    response = client.get("/v1/wallet", headers=caller.headers("GET", "/v1/wallet"))
    assert response.status_code == 200, response.content
    assert response["Cache-Control"] == "no-store"
    return response.json()


@pytest.fixture
def caller(db: None) -> Caller:
    """A person who may look at a wallet."""
    return make_caller("wallet:read")


def test_shows_nothing_of_an_account_that_never_paid(client: Client, caller: Caller) -> None:
    assert wallet(client, caller) == EMPTY


def test_shows_balance_credits_and_holds(client: Client, caller: Caller) -> None:
    purse = purse_of(caller).pay(1000)
    expiry = timezone.now() + timedelta(days=3)
    first = purse.grant(200, product="studio", expires_at=expiry)
    second = purse.grant(300)
    purse.reserve(450, product="studio")
    settle(purse.call(100), 60)
    assert wallet(client, caller) == {
        "currency": "USD",
        "balanceMicrousd": 990,
        "creditsMicrousd": 450,
        "heldMicrousd": 450,
        "availableMicrousd": 990,
        "debtMicrousd": 0,
        "credits": [
            {
                "creditId": first,
                "product": "studio",
                "grantedMicrousd": 200,
                "remainingMicrousd": 200,
                "expiresAt": rfc3339(expiry),
            },
            {
                "creditId": second,
                "product": None,
                "grantedMicrousd": 300,
                "remainingMicrousd": 250,
                "expiresAt": None,
            },
        ],
    }


def test_counts_of_an_expired_credit_what_open_calls_hold(client: Client, caller: Caller) -> None:
    purse = purse_of(caller).pay(1000)
    now = timezone.now()
    purse.grant(200, expires_at=now)
    purse.reserve(150, now=now - timedelta(seconds=1))
    seen = wallet(client, caller)
    assert (seen["creditsMicrousd"], seen["heldMicrousd"], seen["availableMicrousd"]) == (150, 150, 1000)
    assert [credit["remainingMicrousd"] for credit in seen["credits"]] == [150]


def test_leaves_out_what_has_expired_or_is_used_up(client: Client, caller: Caller) -> None:
    purse = purse_of(caller)
    purse.grant(200, expires_at=timezone.now())
    purse.grant(50)
    settle(purse.call(50), 50)
    assert wallet(client, caller) == EMPTY


def test_nothing_is_available_while_there_is_a_debt(client: Client, caller: Caller) -> None:
    purse = purse_of(caller).pay(150)
    settle(purse.call(50), 50)
    purse.refund(150)
    purse.grant(70)
    seen = wallet(client, caller)
    assert (seen["debtMicrousd"], seen["availableMicrousd"], seen["creditsMicrousd"]) == (50, 0, 70)


def test_shows_nobody_elses_wallet(client: Client, caller: Caller) -> None:
    Purse().pay(1000)
    purse_of(caller).pay(5)
    assert wallet(client, caller)["balanceMicrousd"] == 5


def test_needs_its_scope(client: Client, db: None) -> None:
    caller = make_caller("usage:read")
    response = client.get("/v1/wallet", headers=caller.headers("GET", "/v1/wallet"))
    assert (response.status_code, response.json()["error"]["code"]) == (403, "insufficient_scope")


def test_needs_a_token(client: Client, db: None) -> None:
    assert client.get("/v1/wallet").status_code == 401
