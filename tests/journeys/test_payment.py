"""Money from a customer's card to a call: checkout, the provider's page, a webhook, a worker, the wallet."""

from collections.abc import Callable
from typing import Any

import httpx
import pytest

from tests.journeys.caller import Caller
from tests.support.concurrency import eventually
from tests.support.gateways import GatewayProcess
from tests.support.stripe import FakeStripe

SignIn = Callable[[str], Caller]


@pytest.fixture
def stripe(bank: FakeStripe, gateway: GatewayProcess) -> FakeStripe:
    bank.reset()
    bank.webhooks.send_to(f"{gateway.base_url}/webhooks/stripe")
    return bank


def checkout(caller: Caller, amount: int, key: str) -> dict[str, Any]:
    path = "/v1/billing/checkout"
    body = {"amountMicros": amount, "idempotencyKey": key}
    answer = caller.http.post(path, json=body, headers=caller.headers("POST", path))
    assert answer.status_code == 201, answer.text
    return answer.json()


def wait_for_balance(caller: Caller, balance: int) -> dict[str, Any]:
    """Look until a worker has done its work, and return the wallet then."""
    eventually(lambda: caller.wallet()["balanceMicrousd"] == balance)
    return caller.wallet()


def test_a_top_up_is_paid_spent_and_refunded(signed_in: SignIn, stripe: FakeStripe, gateway: GatewayProcess) -> None:
    frank = signed_in("frank")
    assert frank.wallet()["availableMicrousd"] == 0
    assert frank.chat().json()["error"]["code"] == "insufficient_funds"
    begun = checkout(frank, 7_000_000, "first")
    assert checkout(frank, 7_000_000, "first") == begun
    assert begun["url"].startswith(stripe.origin)
    assert httpx.post(begun["url"], timeout=60).status_code in (302, 303)  # the customer pays at the provider's page
    wait_for_balance(frank, 7_000_000)
    answer = frank.chat()
    assert answer.status_code == 200
    charge = int(answer.headers["x-service-charge-microusd"])
    [session] = stripe.sessions
    stripe.refund(session["id"], amount=100)
    wait_for_balance(frank, 6_000_000 - charge)
    stripe.refund(session["id"])
    wallet = wait_for_balance(frank, 0)
    assert (wallet["debtMicrousd"], wallet["availableMicrousd"]) == (charge, 0)
    assert frank.chat().json()["error"]["code"] == "insufficient_funds"
    audit = gateway.manage("audit_ledger")
    assert audit.returncode == 0, audit.stdout
