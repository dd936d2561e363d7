"""The vendor's own client of the payment provider, pointed at the stand-in, and what is asked of it."""

from typing import Any

import pytest
import stripe
from stripe import StripeClient

from tests.support.stripe import FakeStripe


def client_of(provider: FakeStripe, key: str | None = None, *, retries: int = 0) -> StripeClient:
    """Return a client of the stand-in, with the test key unless another is given."""
    http = stripe.RequestsClient(timeout=60)
    address: Any = {"api": provider.origin}
    key = key or provider.secret_key
    return StripeClient(key, base_addresses=address, http_client=http, max_network_retries=retries)


@pytest.fixture
def client(provider: FakeStripe) -> StripeClient:
    return client_of(provider)


def top_up(cents: int = 1250, **members: Any) -> Any:
    """Return the parameters of a session that adds money to a wallet."""
    price = {"currency": "usd", "unit_amount": cents, "product_data": {"name": "Wallet top-up"}}
    return {
        "mode": "payment",
        "line_items": [{"price_data": price, "quantity": 1}],
        "client_reference_id": "txn_1",
        "metadata": {"transaction_id": "txn_1"},
        "payment_intent_data": {"metadata": {"transaction_id": "txn_1"}},
        "success_url": "http://127.0.0.1:1/back?session={CHECKOUT_SESSION_ID}",
        "cancel_url": "http://127.0.0.1:1/cancelled",
        **members,
    }


SETUP = {
    "mode": "setup",
    "currency": "usd",
    "customer_creation": "always",
    "success_url": "http://127.0.0.1:1/back",
    "setup_intent_data": {"metadata": {"transaction_id": "txn_2"}},
}
