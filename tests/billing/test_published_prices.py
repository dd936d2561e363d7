"""Prices are dated rows that are added, never edited."""

from datetime import timedelta

import pytest
from django.db import IntegrityError, transaction
from django.utils import timezone

from billing.models import PriceVersion
from billing.operations import prices
from billing.queries import prices as price_queries
from billing.rules.prices import PriceError

FAST = {"input_token": "0.15", "output_token": "0.60"}


def test_publishes_only_what_changed(db: None) -> None:
    now = timezone.now()
    first = prices.publish("fast", FAST, now=now)
    assert first is not None
    assert prices.publish("fast", {"output_token": "0.6", "input_token": "0.150000"}, now=now) is None
    second = prices.publish("fast", FAST | {"input_token": "0.16"}, now=now + timedelta(hours=1))
    assert second is not None
    assert price_queries.in_force("fast", now) == first
    assert price_queries.in_force("fast", now + timedelta(hours=1)) == second
    assert price_queries.in_force("fast", now - timedelta(seconds=1)) is None


def test_publishes_twice_in_one_instant(db: None) -> None:
    now = timezone.now()
    prices.publish("fast", FAST, now=now)
    changed = prices.publish("fast", {"request": "1"}, now=now)
    assert changed is not None
    assert price_queries.in_force("fast", now + timedelta(microseconds=1)) == changed


def test_what_is_published_last_is_in_force_last(db: None) -> None:
    """A transaction that waited for its turn read the clock before the one that it waited for."""
    now = timezone.now()
    prices.publish("fast", FAST, now=now)
    waited = prices.publish("fast", {"request": "1"}, now=now - timedelta(seconds=1))
    assert price_queries.in_force("fast", now + timedelta(microseconds=1)) == waited
    assert price_queries.newest("fast") == waited


def test_tells_every_aliass_prices_at_once(db: None) -> None:
    now = timezone.now()
    prices.publish("fast", FAST, now=now - timedelta(days=1))
    fast = prices.publish("fast", {"request": "1"}, now=now)
    image = prices.publish("image", {"image": {"1024x1024/high": "40000"}}, now=now)
    prices.publish("later", FAST, now=now + timedelta(days=1))
    assert price_queries.current(now) == {"fast": fast, "image": image}


def test_refuses_what_cannot_be_read(db: None) -> None:
    with pytest.raises(PriceError):
        prices.publish("fast", {"input_token": 0.15}, now=timezone.now())
    assert not PriceVersion.objects.exists()


def test_the_database_refuses_an_edit(db: None) -> None:
    prices.publish("fast", FAST, now=timezone.now())
    with pytest.raises(IntegrityError, match="never changed"), transaction.atomic():
        PriceVersion.objects.update(components={})
    with pytest.raises(IntegrityError, match="never changed"), transaction.atomic():
        PriceVersion.objects.all().delete()
