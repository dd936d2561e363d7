"""Endpoints: their subscriptions, secrets and tests."""

import json
from datetime import UTC, datetime

import pytest
from django.db import connection

from gateway.core.events.models import Delivery, Endpoint, Subscription
from gateway.core.events.operations import endpoints
from gateway.core.events.rules.addresses import is_endpoint_url
from tests.events.stage import endpoint
from tests.support.event_receiver import SECRET

pytestmark = pytest.mark.django_db

NOW = datetime(2030, 1, 1, tzinfo=UTC)


def subscribed() -> set[tuple[str, str]]:
    return set(Subscription.objects.values_list("product", "type"))


def test_paid_calls_know_what_is_subscribed_to() -> None:
    usage = {"usage.settled", "usage.released", "usage.reconciling"}
    one = endpoint("one", "usage.*", "seat.assigned", product="studio")
    assert subscribed() == {("studio", name) for name in usage | {"seat.assigned"}}
    two = endpoint("two", "usage.settled", product="studio")
    endpoint("three", "invoice.paid", product="courier")
    one.enabled = False
    endpoints.save(one)
    assert subscribed() == {("studio", "usage.settled"), ("courier", "invoice.paid")}
    assert endpoints.disable(two.pk, reason="Because.")
    assert not endpoints.disable(two.pk, reason="Because.")
    assert subscribed() == {("courier", "invoice.paid")}


def test_a_secret_is_stored_encrypted() -> None:
    endpoint()
    with connection.cursor() as cursor:
        cursor.execute("SELECT secret FROM events_endpoint")
        [(stored,)] = cursor.fetchall()
    assert SECRET not in stored
    assert Endpoint.objects.get().secret == SECRET


def test_a_test_goes_to_one_endpoint_whatever_its_types() -> None:
    one = endpoint("one", "seat.assigned", product="studio")
    endpoint("two", product="studio")
    made = [endpoints.send_test(one.pk, now=NOW) for _ in range(2)]
    assert list(Delivery.objects.order_by("pk")) == made
    bodies = [json.loads(delivery.event.body or "") for delivery in made]
    assert bodies[1] == {
        "id": made[1].event.public_id,
        "type": "test.ping",
        "createdAt": "2030-01-01T00:00:00Z",
        "sequence": 2,
        "data": {"endpoint": "one"},
    }


@pytest.mark.parametrize(
    ("url", "is_public", "is_loopback"),
    [
        ("https://studio.example/hooks?a=b", True, False),
        ("https://studio.example:8443", True, False),
        ("http://127.0.0.1:9000/hooks", False, True),
        ("http://127.0.0.1", False, True),
        ("http://studio.example/hooks", False, False),
        ("https://user@studio.example/", False, False),
        ("https://studio.example/#part", False, False),
        ("https://localhost/", False, False),
        ("https://127.0.0.1/", False, False),
        ("https://10.0.0.1/", False, False),
        ("https://studio.internal/", False, False),
        ("http://localhost/", False, False),
        ("http://127.0.0.1:0/", False, False),
        ("http://127.0.0.1:99999/", False, False),
        ("http://127.0.0.1\\@studio.example/", False, False),
        ("http://a@127.0.0.1/", False, False),
        ("https://stüdio.example/", False, False),
        ("https://studio.example/" + "x" * 500, False, False),
        ("ftp://studio.example/", False, False),
        ("", False, False),
    ],
)
def test_addresses(url: str, is_public: bool, is_loopback: bool) -> None:
    assert is_endpoint_url(url, or_loopback=False) == is_public
    assert is_endpoint_url(url, or_loopback=True) == (is_public or is_loopback)
