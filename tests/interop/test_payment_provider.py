"""The stand-in for the payment provider, before the vendor's own client for Node.js."""

import pytest

from tests.interop.node_script import run_script
from tests.support.stripe import FakeStripe

pytestmark = pytest.mark.usefixtures("npm_packages")


def test_stripe() -> None:
    with FakeStripe() as provider:
        provider.keeping.customer(live=False)
        [event] = provider.events_of("customer.created")
        body, headers = provider.webhooks.signed(event)
        signature = headers["Stripe-Signature"]
        found = run_script(
            "stripe.js", provider.origin, provider.secret_key, provider.webhooks.secret, body.decode(), signature
        )
        made, [second, first] = found["made"], found["listed"]
        sessions = [session["id"] for session in provider.sessions]
    assert found["event"] == ["customer.created", "customer"]
    assert made["url"] == f"{provider.origin}/c/pay/{made['id']}"
    assert (made["total"], made["live"]) == (1250, False)
    assert (found["again"], found["replayed"], found["found"]) == (made["id"], "true", "txn_1")
    assert sessions == [second, first] == [second, made["id"]]
    assert (found["paid"], found["refunded"]) == (["complete", "paid", True], ["succeeded", 250])
    assert found["moved"] == [["refund", -250, "refund"], ["charge", 1250, "charge"]]
    assert found["refusals"] == {
        "key": ["StripeAuthenticationError", 401, None],
        "missing": ["StripeInvalidRequestError", 404, "resource_missing"],
        "idempotency": ["StripeIdempotencyError", 400, None],
        "account": ["StripePermissionError", 403, "account_invalid"],
        "signature": ["StripeSignatureVerificationError", None, None],
    }
