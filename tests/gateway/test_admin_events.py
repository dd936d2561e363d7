"""Endpoints of events and their deliveries in the console."""

from typing import Any

import pytest
from django.test import Client
from django.utils import timezone

from gateway.core.events.adapters.posting import Answer
from gateway.core.events.models import Delivery, Endpoint, Subscription
from gateway.core.events.operations import deliveries
from tests.gateway.console import make_delivery
from tests.gateway.operators import address, clerk, errors, logged, show_only
from tests.support.event_receiver import SECRET

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("configured")]

TABLES = (("events", "endpoint"), ("events", "delivery"))
FORM = {
    "name": "hooks",
    "product": "studio",
    "url": "https://studio.example/hooks",
    "types": "usage.settled\r\nbudget.*\r\n",
    "secret": SECRET,
    "enabled": "on",
}


@pytest.fixture(autouse=True)
def _short_navigation(monkeypatch: pytest.MonkeyPatch) -> None:
    show_only(monkeypatch, *TABLES)


def confirm(operator: Client, name: str, row: Any, **form: str) -> Any:
    return operator.post(address(name, row.pk), {"_form_submitted": "on", "reason": "they asked", **form})


def test_an_endpoint_is_added_and_changed(operator: Client) -> None:
    assert operator.post(address("events_endpoint_add"), FORM).status_code == 303
    one = Endpoint.objects.get()
    assert (one.name, one.product, one.types, one.secret) == ("hooks", "studio", ["usage.settled", "budget.*"], SECRET)
    assert set(Subscription.objects.values_list("type", flat=True)) == {"usage.settled", "budget.threshold"}
    page = address("events_endpoint_change", one.pk)
    assert SECRET not in operator.get(page).content.decode()
    changed = {**FORM, "product": "courier", "name": "x", "secret": "", "types": "seat.*"}
    del changed["enabled"]
    assert operator.post(page, changed).status_code == 303
    one.refresh_from_db()
    assert (one.name, one.product, one.secret, one.enabled) == ("hooks", "studio", SECRET, False)
    assert one.types == ["seat.*"]
    assert not Subscription.objects.exists()


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("url", "http://studio.example/hooks"),
        ("url", "https://127.0.0.1/hooks"),
        ("types", "usage.setled"),
        ("types", ""),
        ("types", "payment.failed"),
        ("secret", "short"),
        ("secret", ""),
        ("product", "nothing"),
        ("name", ""),
    ],
)
def test_an_endpoint_is_checked_as_in_the_file(operator: Client, field: str, value: str) -> None:
    assert list(errors(operator.post(address("events_endpoint_add"), {**FORM, field: value}))) == [field]
    assert not Endpoint.objects.exists()


def test_a_test_event_is_sent(operator: Client) -> None:
    one = make_delivery().endpoint
    response = confirm(operator, "events_endpoint_send_test", one)
    assert response.headers["HX-Redirect"] == address("events_endpoint_change", one.pk)
    newest = Delivery.objects.latest("pk")
    assert (newest.endpoint, newest.status, newest.event.type) == (one, "due", "test.ping")
    assert logged()[-1][1] == f"Sent the test event {newest.event.public_id}: they asked"


def test_the_secret_is_rotated(operator: Client) -> None:
    one = make_delivery().endpoint
    dialog = operator.get(address("events_endpoint_rotate_secret", one.pk)).content.decode()
    assert "whsec_" in dialog
    assert SECRET not in dialog
    new = "whsec_" + "A" * 32
    confirm(operator, "events_endpoint_rotate_secret", one, secret="short")
    one.refresh_from_db()
    assert (one.secret, one.previous_secret) == (SECRET, None)
    response = confirm(operator, "events_endpoint_rotate_secret", one, secret=new)
    assert response.headers["HX-Redirect"] == address("events_endpoint_change", one.pk)
    one.refresh_from_db()
    assert (one.secret, one.previous_secret) == (new, SECRET)
    assert logged()[-1][1] == "Rotated the secret: they asked"
    page = operator.get(address("events_endpoint_change", one.pk)).content.decode()
    assert "New and previous, until " in page
    assert not {secret for secret in (new, SECRET) if secret in page}


def test_a_delivery_shows_its_answer_and_is_sent_again(operator: Client) -> None:
    row = make_delivery()
    now = timezone.now()
    [turn] = deliveries.claim(now=now, limit=1, failing=False)
    [message] = deliveries.due(turn, now=now, limit=1)
    deliveries.note(turn, message, Answer(500, "<b>it broke", milliseconds=12), now=now)
    page = operator.get(address("events_delivery_change", row.pk)).content.decode()
    assert "&lt;b&gt;it broke" in page
    assert "12 ms" in page
    assert row.event.public_id in page
    assert confirm(operator, "events_delivery_send_one_again", row).headers["HX-Redirect"]
    row.refresh_from_db()
    assert (row.status, row.attempts) == ("due", 0)
    assert logged()[-1][1] == "Sent again: they asked"
    Delivery.objects.update(attempts=3)
    chosen = {"action": "send_again", "_selected_action": [row.pk], "reason": "they asked"}
    assert operator.post(address("events_delivery_changelist"), chosen).status_code in (302, 303)
    row.refresh_from_db()
    assert (row.status, row.attempts) == ("due", 0)


def test_a_disabled_endpoint_is_sent_nothing(operator: Client) -> None:
    row = make_delivery()
    Endpoint.objects.update(enabled=False)
    Delivery.objects.update(attempts=3)
    assert confirm(operator, "events_delivery_send_one_again", row).status_code == 403
    assert confirm(operator, "events_endpoint_send_test", row.endpoint).status_code == 403
    assert list(Delivery.objects.values_list("attempts", flat=True)) == [3]


def test_the_overview_names_endpoints_that_fail(operator: Client) -> None:
    row = make_delivery()
    assert "that does not answer" not in operator.get("/admin/").content.decode()
    Endpoint.objects.update(failing_since=timezone.now())
    overview = operator.get("/admin/").content.decode()
    assert "its last attempts failed" in overview
    Endpoint.objects.update(enabled=False, disabled_reason="It answered 410 Gone.")
    assert "It answered 410 Gone." in operator.get("/admin/").content.decode()
    assert "that does not answer" not in clerk("view_call").get("/admin/").content.decode()
    assert f"/admin/events/endpoint/{row.endpoint_id}/change/" in overview
