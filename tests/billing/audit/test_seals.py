"""A seal covers what is committed for good, whatever is still under way."""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from typing import Any

import psycopg
import pytest
from django.db import connection
from django.utils import timezone

from billing.models import Seal
from billing.operations import finality, seals
from billing.queries import audit
from tests.factories.billing import Purse, release, settle
from tests.support.database import connect

pytestmark = pytest.mark.django_db(transaction=True)
AT_ONCE = timedelta(0)


@pytest.fixture
def beside(db: None) -> Iterator[psycopg.Connection[Any]]:
    """Another session of the application."""
    with connect() as session:
        yield session


def rows_of(seal: Seal) -> dict[str, int]:
    return {noun: said["rows"] for noun, said in seal.contents.items()}


def seal_in_a_thread() -> str | None:
    try:
        return seals.seal(margin=AT_ONCE)
    finally:
        connection.close()


def test_counts_what_became_final() -> None:
    purse = Purse().pay(1000)
    purse.grant(50)
    settle(purse.call(100), 90)
    release(purse.call(100))
    purse.call(100)
    assert seals.seal(margin=AT_ONCE) == bytes(Seal.objects.get().chain).hex()
    assert rows_of(Seal.objects.get()) == {
        "call": 2,
        "transfer": 4,
        "credit": 1,
        "price": 1,
        "wallet": 1,
        "checkout": 1,
    }
    assert seals.seal(margin=AT_ONCE) is None
    settle(purse.call(10), 10)
    seals.seal(margin=AT_ONCE)
    assert [rows_of(seal) for seal in Seal.objects.order_by("id")[1:]] == [{"call": 1, "transfer": 1}]
    assert audit.findings() == []


def test_leaves_what_is_younger_than_its_margin() -> None:
    Purse().pay(1000)
    assert seals.seal(margin=timedelta(minutes=1)) is None


def test_waits_for_a_transaction_that_commits_late(beside: psycopg.Connection[Any]) -> None:
    purse = Purse().pay(1000)
    call = purse.call(100)
    beside.execute("SELECT billing_settle(%s, 30, 'upstream', '{\"input_tokens\": 200}')", [call])
    with ThreadPoolExecutor(1) as pool:
        sealing = pool.submit(seal_in_a_thread)
        with pytest.raises(TimeoutError):
            sealing.result(timeout=0.5)
        beside.commit()
        assert sealing.result(timeout=20) is not None
    assert rows_of(Seal.objects.get())["call"] == 1
    assert audit.findings() == []


def test_gives_up_where_a_transaction_does_not_end(
    beside: psycopg.Connection[Any], monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    Purse().pay(1000)
    beside.execute("SELECT pg_current_xact_id()")
    monkeypatch.setattr(finality, "WAIT_SECONDS", 0.3)
    assert seals.seal(margin=AT_ONCE) is None
    assert not Seal.objects.exists()
    assert "nothing was sealed" in caplog.text


def test_several_at_once_make_one_chain() -> None:
    purse = Purse().pay(1000)
    for cost in range(1, 6):
        settle(purse.call(10), cost)
        with ThreadPoolExecutor(4) as pool:
            made = list(pool.map(lambda _: seal_in_a_thread(), range(4)))
        assert any(made)
    assert [seal.id for seal in Seal.objects.order_by("id")] == list(range(1, Seal.objects.count() + 1))
    assert audit.findings() == []


def test_a_key_that_becomes_free_and_a_credit_that_is_spent_break_no_seal() -> None:
    purse = Purse().pay(1000)
    purse.grant(500)
    first = purse.reserve(10, "a", now=timezone.now() - timedelta(hours=30)).usage_id or ""
    settle(first, 10, now=timezone.now() - timedelta(hours=25))
    seals.seal(margin=AT_ONCE)
    again = purse.call(300, "a")
    settle(again, 300)
    seals.seal(margin=AT_ONCE)
    assert audit.findings() == []
