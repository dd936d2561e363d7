"""The fan-out: who gets an event, once, and what."""

import json
from datetime import timedelta
from typing import Any

import pytest
from django.db import connection, transaction
from django.test.utils import CaptureQueriesContext
from django.utils import timezone
from pytest_django import Settings

from gateway.core.api.times import rfc3339
from gateway.core.events import registry
from gateway.core.events.mail_people import Person
from gateway.core.events.models import Delivery, Event, Mail
from gateway.core.events.operations import fanning_out
from gateway.core.events.operations.fanning_out import fan_out
from gateway.core.events.registry import EventKind, MailDraft, register
from gateway.core.events.rules.types import INTERNAL_TYPES, PUBLIC_TYPES
from tests.events.stage import ALICE, BOB, endpoint, happen, recipients, spread
from tests.support.concurrency import at_once

pytestmark = pytest.mark.django_db

PRODUCTS = {ALICE: ["studio"], BOB: ["courier"]}


@pytest.fixture(autouse=True)
def kinds(plain_kinds: None) -> None:
    """Replace what the apps have registered by kinds whose audience follows from the owner."""
    register(EventKind("wallet.low", audience=lambda event: PRODUCTS[event.owner_key]))
    register(EventKind("membership.created", audience=lambda event: ["studio", "courier", "nobody"]))


def test_an_event_goes_to_the_endpoints_of_its_product_alone() -> None:
    for name in ("studio", "courier"):
        endpoint(name)
    endpoint("second", product="studio")
    theirs, ours = happen(product="courier"), happen(product="studio")
    assert spread() == 2
    assert recipients(theirs) == ["courier"]
    assert recipients(ours) == ["second", "studio"]


def test_an_event_of_one_tenant_never_goes_to_another() -> None:
    for name in ("studio", "courier"):
        endpoint(name)
    alice, bob = happen("wallet.low", ALICE), happen("wallet.low", BOB)
    spread()
    assert (recipients(alice), recipients(bob)) == (["studio"], ["courier"])


def test_an_event_may_go_to_several_products() -> None:
    endpoint("studio", "membership.*")
    endpoint("courier", "membership.created", "seat.*")
    endpoint("other", "membership.*")
    event = happen("membership.created")
    spread()
    assert recipients(event) == ["courier", "studio"]


@pytest.mark.parametrize("type_", PUBLIC_TYPES)
def test_patterns_choose_types(type_: str) -> None:
    register(EventKind(type_, audience=lambda event: ["exact", "group", "others", "off"]))
    group = f"{type_.split('.', maxsplit=1)[0]}.*"
    endpoint("exact", type_)
    endpoint("group", group)
    endpoint("others", *(set(PUBLIC_TYPES) - {type_}))
    endpoint("off", group, enabled=False)
    event = happen(type_, product="exact")
    spread()
    assert recipients(event) == ["exact", "group"]


@pytest.mark.parametrize("type_", INTERNAL_TYPES)
def test_an_internal_event_goes_to_no_endpoint(type_: str) -> None:
    register(EventKind(type_, is_public=False, audience=lambda event: ["studio"]))
    one = endpoint("studio", "usage.*")
    type(one).objects.update(types=[type_, f"{type_.split('.', maxsplit=1)[0]}.*"])
    event = happen(type_)
    assert spread() == 1
    assert recipients(event) == []
    event.refresh_from_db()
    assert event.body is None


def test_the_body_is_rendered_once() -> None:
    seen: list[int] = []

    def body(event: Event) -> dict[str, Any]:
        seen.append(event.pk)
        return {"did": event.owner_key, "text": "ä\u2028\U0001f600", "n": len(seen)}

    register(EventKind("usage.settled", body=body))
    endpoint()
    endpoint("second", product="studio")
    event = happen(secret="stays here")
    spread()
    event.refresh_from_db()
    assert seen == [event.pk]
    assert event.body is not None
    assert json.loads(event.body) == {
        "id": event.public_id,
        "type": "usage.settled",
        "createdAt": rfc3339(event.created_at),
        "sequence": 1,
        "data": {"did": ALICE, "text": "ä\u2028\U0001f600", "n": 1},
    }


def test_deliveries_are_made_in_the_order_of_events() -> None:
    endpoint()
    events = [happen(owner=owner) for owner in (ALICE, BOB, ALICE, ALICE, BOB)]
    while fanning_out.fan_out(now=timezone.now(), limit=2):
        pass
    made = Delivery.objects.order_by("next_at", "pk").values_list("event", flat=True)
    assert list(made) == [event.pk for event in events]


def test_mails_are_made_once_for_each_person(monkeypatch: pytest.MonkeyPatch, settings: Settings) -> None:
    settings.MAIL_IS_CONFIGURED = True
    context = {"available": "$0.80", "threshold": "$1.00", "wallet_path": "/wallet"}
    draft = MailDraft(Person(ALICE, "Alice", "a@example.com"), "wallet_low", "wallet", context)
    monkeypatch.setitem(registry._mails, "wallet.low", lambda event: [draft, draft])
    event = happen("wallet.low")
    spread()
    [mail] = Mail.objects.all()
    assert (mail.recipient, mail.to, mail.name) == (ALICE, "a@example.com", "Alice")
    assert (mail.template, mail.kind, mail.can_unsubscribe) == ("wallet_low", "wallet", True)
    assert (json.loads(mail.context), mail.status) == (context, "due")
    Event.objects.update(fanned_out_at=None)
    spread()
    assert list(Mail.objects.values_list("event", flat=True)) == [event.pk]


def test_a_fan_out_that_is_repeated_changes_nothing() -> None:
    endpoint()
    happen()
    assert (spread(), spread()) == (1, 0)
    Event.objects.update(fanned_out_at=None)
    assert spread() == 1
    assert Delivery.objects.count() == 1


def test_an_event_that_cannot_be_rendered_waits_and_the_others_do_not(caplog: pytest.LogCaptureFixture) -> None:
    def body(event: Event) -> dict[str, Any]:
        if event.data.get("broken"):
            Event.objects.raw("SELECT 1 / 0 AS id")[0]
        return {}

    register(EventKind("usage.settled", body=body))
    endpoint()
    broken, sound = happen(broken=True), happen()
    now = timezone.now()
    assert spread(now) == 1
    assert (recipients(broken), recipients(sound)) == ([], ["studio"])
    assert [record.name for record in caplog.records if record.name == "gateway.events"] == ["gateway.events"]
    assert spread(now + timedelta(seconds=59)) == 0
    Event.objects.filter(pk=broken.pk).update(data={})
    assert spread(now + timedelta(seconds=60)) == 1
    assert recipients(broken) == ["studio"]


@pytest.mark.django_db(transaction=True)
def test_two_fan_outs_at_once_make_each_delivery_once() -> None:
    endpoint()
    for _ in range(20):
        happen()
    at_once(*[spread] * 4)
    spread()
    assert sorted(Delivery.objects.values_list("event", flat=True)) == sorted(
        Event.objects.values_list("pk", flat=True)
    )
    assert Event.objects.filter(fanned_out_at=None).count() == 0


@pytest.mark.django_db(transaction=True)
def test_what_is_not_committed_is_not_fanned_out() -> None:
    endpoint()
    with transaction.atomic():
        first = happen()
        assert at_once(spread) == [0]
    assert spread() == 1
    assert recipients(first) == ["studio"]


def test_many_events_take_as_many_statements_as_one() -> None:
    endpoint("studio")
    first = happen(product="studio")
    with CaptureQueriesContext(connection) as alone:
        fan_out(now=timezone.now())
    others = [happen(product="studio") for _ in range(20)]
    with CaptureQueriesContext(connection) as together:
        assert fan_out(now=timezone.now()) == 20
    assert len(together) == len(alone)
    sent = Delivery.objects.order_by("next_at", "pk").values_list("event", flat=True)
    assert list(sent) == [event.pk for event in (first, *others)]
