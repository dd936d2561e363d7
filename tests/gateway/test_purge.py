"""A purge gets in nobody's way: it waits for no call, no call waits for it, and two take turns."""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime, timedelta
from typing import Any

import psycopg
import pytest
from django.db import DatabaseError, connection, transaction
from django.utils import timezone

from billing.models import StoredReplay
from billing.operations import replays
from billing.queries import audit
from gateway.core.database import purge as purging
from tests.factories.billing import ANSWER, Purse, release, settle
from tests.support.database import connect

pytestmark = pytest.mark.django_db(transaction=True)

DAY = timedelta(hours=24)
NEVER_SECONDS = 15
"""A wait for a lock that nobody lets go of ends with an error after so long, on any machine."""


@pytest.fixture
def beside(db: None) -> Iterator[psycopg.Connection[Any]]:
    """Another session of the application."""
    with connect() as session:
        session.execute(f"SET lock_timeout = '{NEVER_SECONDS}s'".encode())
        session.commit()
        yield session


@pytest.fixture
def purse(db: None) -> Purse:
    return Purse().pay(10_000)


def answered(purse: Purse, *keys: str, now: datetime) -> list[str]:
    """Settle a call for each key, with an answer."""
    calls = [purse.call(10, key) for key in keys]
    for call in calls:
        settle(call, 5, replay=ANSWER, now=now)
    return calls


def stored() -> set[str]:
    return set(StoredReplay.objects.values_list("pk", flat=True))


def test_waits_for_nobody_who_holds_a_row(purse: Purse, beside: psycopg.Connection[Any]) -> None:
    now = timezone.now()
    held, *_ = answered(purse, "a", "b", "c", now=now)
    beside.execute("SELECT FROM billing_stored_replay WHERE reservation_id = %s FOR KEY SHARE", [held])
    beside.execute("SELECT FROM billing_reservation FOR UPDATE")
    beside.execute("SELECT FROM billing_wallet FOR UPDATE")
    assert replays.purge(now=now + DAY) == 2
    assert stored() == {held}
    beside.commit()
    assert replays.purge(now=now + DAY) == 1
    assert audit.findings() == []


def test_makes_no_call_wait(purse: Purse, beside: psycopg.Connection[Any]) -> None:
    """The purge's transaction stays open: a call that waited for it would end with an error."""
    now = timezone.now()
    answered(purse, "old", now=now - DAY)
    open_call, other = purse.call(10, "open"), purse.call(10, "other")
    with transaction.atomic():
        assert replays.purge(now=now) == 1
        with ThreadPoolExecutor(1) as pool:
            pool.submit(use_the_ledger, purse, open_call, other).result()
    assert stored() == {open_call}


def use_the_ledger(purse: Purse, open_call: str, other: str) -> None:
    """Replay, settle, release and hold, also under the key whose answer is being purged."""
    try:
        with connection.cursor() as cursor:
            cursor.execute(f"SET lock_timeout = '{NEVER_SECONDS}s'")
        settle(open_call, 5, replay=ANSWER)
        release(other)
        assert purse.reserve(10, "open").outcome == "replay"
        again = purse.reserve(10, "old")
        assert again.outcome == "reserved"
        release(again.usage_id or "")
    finally:
        connection.close()


def test_a_locked_table_is_left_to_the_next_run(
    purse: Purse, beside: psycopg.Connection[Any], caplog: pytest.LogCaptureFixture
) -> None:
    now = timezone.now()
    answered(purse, "a", now=now - DAY)
    beside.execute("LOCK TABLE billing_stored_replay IN ACCESS EXCLUSIVE MODE")
    assert replays.purge(now=now) == 0
    assert "StoredReplay could not be purged" in caplog.text
    beside.commit()
    assert replays.purge(now=now) == 1


def test_two_at_once_take_different_rows(purse: Purse) -> None:
    now = timezone.now()
    answered(purse, *map(str, range(60)), now=now - DAY)
    rows = StoredReplay.objects.filter(expires_at__lte=now).order_by("expires_at")

    def purge(_: int) -> int:
        try:
            return sum(purging.purge(rows, batch=7) for _ in range(20))
        finally:
            connection.close()

    with ThreadPoolExecutor(4) as pool:
        assert sum(pool.map(purge, range(4))) == 60
    assert stored() == set()


def test_each_batch_is_committed_by_itself(purse: Purse, monkeypatch: pytest.MonkeyPatch) -> None:
    now = timezone.now()
    answered(purse, "a", "b", "c", now=now - DAY)
    rows = StoredReplay.objects.filter(expires_at__lte=now).order_by("expires_at")
    process = purging._process_batch

    def fails_the_second_time(*arguments: Any) -> int:
        if StoredReplay.objects.count() < 3:
            raise DatabaseError("the worker was killed")
        return process(*arguments)

    with monkeypatch.context() as patch:
        patch.setattr(purging, "_process_batch", fails_the_second_time)
        with pytest.raises(DatabaseError):
            purging.purge(rows, batch=1)
    assert len(stored()) == 2


def test_stops_after_its_time_and_goes_on_next_time(purse: Purse, monkeypatch: pytest.MonkeyPatch) -> None:
    now = timezone.now()
    answered(purse, "a", "b", "c", now=now - DAY)
    rows = StoredReplay.objects.filter(expires_at__lte=now).order_by("expires_at")
    with monkeypatch.context() as patch:
        patch.setattr(purging, "RUN_SECONDS", 0.0)
        assert purging.purge(rows, batch=1) == 1
    assert purging.purge(rows, batch=1) == 2
