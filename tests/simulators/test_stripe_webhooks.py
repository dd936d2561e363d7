"""The webhooks of the stand-in for the payment provider, verified by the vendor's own client."""

from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from typing import Any

import pytest
import stripe
from stripe import StripeClient

from tests.simulators.stripe_client import top_up
from tests.support.server_thread import http_server
from tests.support.stripe import FakeStripe


class _Endpoint(BaseHTTPRequestHandler):
    received: list[tuple[bytes, str]] = []
    status = 200

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"]))
        self.received.append((body, self.headers["Stripe-Signature"]))
        self.send_response(self.status)
        self.send_header("Content-Length", "0")
        self.end_headers()

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002
        """Keep the test's output quiet."""


@pytest.fixture
def endpoint() -> Iterator[str]:
    _Endpoint.received.clear()
    with http_server(HTTPServer(("127.0.0.1", 0), _Endpoint)) as origin:
        yield f"{origin}/webhooks/stripe"


def test_webhooks_are_signed_and_come_in_order(provider: FakeStripe, client: StripeClient, endpoint: str) -> None:
    provider.webhooks.send_to(endpoint, "whsec_test")
    session_id = client.v1.checkout.sessions.create(top_up()).id
    provider.pay(session_id)
    events = [client.construct_event(body, header, "whsec_test") for body, header in _Endpoint.received]
    assert [event.type for event in events] == [event["type"] for event in provider.events_of()]
    assert events[-1].data.object["id"] == session_id
    assert {delivery.status for delivery in provider.webhooks.deliveries} == {200}
    body, header = _Endpoint.received[0]
    for wrong in (body + b" ", body.replace(b"1250", b"9999")):
        with pytest.raises(stripe.SignatureVerificationError):
            client.construct_event(wrong, header, "whsec_test")
    with pytest.raises(stripe.SignatureVerificationError):
        client.construct_event(body, header, "whsec_other")


def test_webhooks_can_be_late_twice_and_out_of_order(provider: FakeStripe, client: StripeClient, endpoint: str) -> None:
    provider.webhooks.send_to(endpoint)
    provider.webhooks.hold()
    provider.pay(client.v1.checkout.sessions.create(top_up()).id)
    assert _Endpoint.received == []
    held = list(provider.webhooks.waiting)
    assert provider.webhooks.deliver(*reversed(held), times=2) == [200] * 8
    assert provider.webhooks.waiting == []
    ids = [client.construct_event(body, header, provider.webhooks.secret).id for body, header in _Endpoint.received]
    assert ids == [event["id"] for event in reversed(held) for _ in range(2)]
    body, headers = provider.webhooks.signed(held[0], age_seconds=301)
    with pytest.raises(stripe.SignatureVerificationError, match="tolerance"):
        client.construct_event(body, headers["Stripe-Signature"], provider.webhooks.secret)
