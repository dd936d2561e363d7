"""Events of calls: only where an endpoint of the call's product gets them, and with the usage record."""

from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone

from billing.models import Call
from billing.operations import ledger, reviews
from billing.queries import usage
from billing.serializers.usage import render_usage
from gateway.core.events.models import Event, Subscription
from gateway.core.events.registry import kind_of
from tests.factories.billing import Purse, release, review, settle
from tests.factories.events import recorded, subscribe

TYPES = ("usage.settled", "usage.released", "usage.reconciling")


@pytest.fixture
def subscribed(db: None) -> None:
    subscribe("studio", *TYPES)


def of_calls(purse: Purse) -> list[tuple[str, str]]:
    return [(type_, data["usageId"]) for type_, data in recorded(purse.key, "usage")]


def body(event: Event) -> dict[str, Any]:
    return kind_of(event.type).body(event)


@pytest.mark.usefixtures("subscribed")
def test_each_end_of_a_call_is_recorded_once(org: Purse) -> None:
    org.pay(1000)
    settled, released, reviewed, given_up = [org.call(10, product="studio") for _ in range(4)]
    for _ in range(2):
        settle(settled, 5)
        release(released)
        review(reviewed)
    ledger.reap(now=timezone.now() + timedelta(hours=1)).rows()
    review(given_up, "upstream_timeout")
    reviews.charge(reviewed, cost_microusd=3)
    reviews.release(given_up)
    assert of_calls(org) == [
        ("usage.settled", settled),
        ("usage.released", released),
        ("usage.reconciling", reviewed),
        ("usage.reconciling", given_up),
        ("usage.settled", reviewed),
        ("usage.released", given_up),
    ]
    assert set(Event.objects.filter(type__in=TYPES).values_list("owner_kind", "product")) == {
        ("organization", "studio")
    }


def test_nothing_is_recorded_where_nobody_listens(org: Purse) -> None:
    subscribe("studio", "usage.released")
    subscribe("courier", *TYPES)
    org.pay(1000)
    settle(org.call(10, product="studio"), 5)
    settle(org.call(10), 5)
    release(org.call(10))
    assert of_calls(org) == []
    Subscription.objects.all().delete()
    release(org.call(10, product="studio"))
    assert of_calls(org) == []


@pytest.mark.usefixtures("subscribed")
def test_a_body_is_the_usage_record_with_the_caller(purse: Purse) -> None:
    purse.pay(1000)
    call = purse.call(10, "key", product="studio")
    settle(call, 5)
    [event] = Event.objects.filter(type="usage.settled")
    [record] = render_usage(usage.newest(purse.owner, 1))["data"]
    assert body(event) == {"did": Call.objects.get(pk=call).actor_did, **record}
    assert (record["status"], record["chargedMicrousd"], record["idempotencyKey"]) == ("settled", 5, "key")


@pytest.mark.usefixtures("subscribed")
def test_a_call_whose_outcome_was_unknown_says_so_even_if_it_is_known_by_now(purse: Purse) -> None:
    purse.pay(1000)
    call = purse.call(10, product="studio")
    review(call)
    [event] = Event.objects.filter(type="usage.reconciling")
    before = body(event)
    assert (before["status"], before["heldMicrousd"], before["chargedMicrousd"]) == ("reconciling", 10, 0)
    settle(call, 3)
    assert body(event) == before


@pytest.mark.usefixtures("subscribed")
def test_the_reaper_records_for_several_owners_in_their_order(org: Purse, purse: Purse) -> None:
    calls = {each.key: each.pay(1000).call(10, product="studio") for each in (org, purse)}
    plain = purse.call(10)
    reaped = ledger.reap(now=timezone.now() + timedelta(hours=1)).rows()
    assert {row[0] for row in reaped} == {*calls.values(), plain}
    events = Event.objects.filter(type="usage.reconciling").order_by("id")
    assert [(event.owner_key, event.data["usageId"]) for event in events] == [
        (purse.key, calls[purse.key]),
        (org.key, calls[org.key]),
    ]
