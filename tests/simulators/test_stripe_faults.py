"""Faults that the stand-in for the payment provider can be made to have, as the vendor's own client sees them."""

from typing import Any

import pytest
import stripe
from stripe import StripeClient

from tests.simulators.stripe_client import client_of, top_up
from tests.support.stripe import FakeStripe


@pytest.mark.parametrize(
    ("preset", "error", "made"),
    [
        ("drop-answer", stripe.APIConnectionError, 1),
        ("drop-request", stripe.APIConnectionError, 0),
        ("error", stripe.APIError, 0),
        ("error-after-work", stripe.APIError, 1),
        ("garbage", stripe.APIError, 1),
        ("empty", stripe.APIError, 1),
        ("html", stripe.APIError, 0),
        ("rate-limited", stripe.RateLimitError, 0),
        ("unauthorized", stripe.AuthenticationError, 0),
        ("forbidden", stripe.PermissionError, 0),
        ("unavailable", stripe.APIError, 0),
    ],
)
def test_faults_leave_a_key_that_can_be_tried_again(
    provider: FakeStripe, client: StripeClient, preset: str, error: type[Exception], made: int
) -> None:
    provider.script(preset, method="POST", path="/v1/checkout/*")
    options: Any = {"idempotency_key": "again"}
    with pytest.raises(error):
        client.v1.checkout.sessions.create(top_up(), options)
    assert len(provider.sessions) == made
    after = client.v1.checkout.sessions.create(top_up(), options)
    assert [row["id"] for row in provider.sessions] == [after.id]


def test_a_key_may_remember_an_error(provider: FakeStripe, client: StripeClient) -> None:
    provider.script("error-kept")
    options: Any = {"idempotency_key": "cursed"}
    for _ in range(2):
        with pytest.raises(stripe.APIError):
            client.v1.checkout.sessions.create(top_up(), options)
    assert [request.replayed for request in provider.requests] == [False, True]
    assert provider.sessions == []


def test_the_client_retries_by_itself(provider: FakeStripe) -> None:
    patient = client_of(provider, retries=2)
    provider.script("drop-answer")
    provider.script("unavailable")
    made = patient.v1.checkout.sessions.create(top_up())
    assert [row["id"] for row in provider.sessions] == [made.id]
    assert [request.status for request in provider.requests] == [0, 503, 200]
    assert len({request.idempotency_key for request in provider.requests}) == 1
