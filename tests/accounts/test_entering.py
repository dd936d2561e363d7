"""The first statement of a connection: it begins a new history of the database where the server is not the one before."""

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from django.db import connection
from django.utils import timezone

from accounts.models import ReplayEpoch
from accounts.operations import replays
from gateway.core.database.history import History, histories
from gateway.core.database.refusals import DatabaseRefused
from gateway.core.database.sessions import _enter
from tests.factories.accounts import make_account
from tests.support.concurrency import at_once

pytestmark = pytest.mark.django_db(transaction=True)


def enter() -> tuple[Any, ...]:
    with connection.cursor() as cursor:
        cursor.execute("SELECT * FROM accounts_enter_database()")
        [row] = cursor.fetchall()
    return tuple(row)


def as_after_a_failover() -> None:
    ReplayEpoch.objects.update(history="7711453997773680558/00000001")


def test_a_database_that_is_entered_first_has_lost_nothing() -> None:
    ReplayEpoch.objects.update(history=None, origin=None, began_at=None, lost_until=None)
    is_standby, origin, began_at = enter()
    assert (is_standby, enter()) == (False, (False, origin, began_at))
    epoch = ReplayEpoch.objects.get()
    assert (epoch.lost_until, str(epoch.origin), epoch.began_at) == (None, origin, began_at)


def test_another_server_begins_a_new_history_once() -> None:
    make_account("alice")
    before = enter()
    as_after_a_failover()
    failed_at = timezone.now()
    found = at_once(*[enter] * 8)
    assert len(set(found)) == 1
    _, origin, began_at = found[0]
    assert (origin, began_at > before[2]) == (before[1], True)
    lost_until = ReplayEpoch.objects.get().lost_until
    assert lost_until is not None
    assert failed_at <= lost_until - replays.PROOF_LIFE_MAX <= timezone.now()


def test_a_new_history_begins_after_the_one_before_even_if_the_clock_is_behind() -> None:
    enter()
    ahead = timezone.now() + timedelta(hours=1)
    ReplayEpoch.objects.update(began_at=ahead)
    as_after_a_failover()
    assert enter()[2] == ahead + timedelta(microseconds=1)


def test_an_epoch_that_lasts_longer_is_not_shortened() -> None:
    enter()
    far = timezone.now() + timedelta(hours=1)
    ReplayEpoch.objects.update(lost_until=far)
    as_after_a_failover()
    enter()
    assert ReplayEpoch.objects.get().lost_until == far


def test_a_database_without_its_epoch_gets_one() -> None:
    make_account("alice")
    ReplayEpoch.objects.all().delete()
    enter()
    epoch = ReplayEpoch.objects.get()
    assert None not in (epoch.lost_until, epoch.history, epoch.origin, epoch.began_at)


def test_a_database_that_refuses_writes_is_only_read() -> None:
    before = enter()
    with refusing_writes():
        assert enter() == before


def test_one_that_refuses_writes_is_not_used_before_its_new_history_has_begun() -> None:
    _, origin, began_at = enter()
    as_after_a_failover()
    with refusing_writes():
        assert enter() == (True, origin, began_at)
        with pytest.raises(DatabaseRefused, match="refuses writes"):
            _enter((0, *enter()))
    assert enter() > (False, origin, began_at)


@contextmanager
def refusing_writes() -> Iterator[None]:
    with connection.cursor() as cursor:
        cursor.execute("SET default_transaction_read_only = on")
        try:
            yield
        finally:
            cursor.execute("SET default_transaction_read_only = off")


def test_refusing_earlier_proofs_makes_a_restored_copy_the_newest() -> None:
    _, origin, began_at = enter()
    replays.refuse_earlier()
    assert enter()[1:] > (origin, began_at)


def test_it_does_so_even_if_the_newest_history_began_when_the_clock_was_ahead(data_dir: None) -> None:
    _, origin, _ = enter()
    ahead = timezone.now() + timedelta(hours=1)
    histories.enter(History(origin, ahead))
    replays.refuse_earlier()
    assert enter()[2] == ahead + timedelta(microseconds=1)


@pytest.fixture
def data_dir(tmp_path: Path, settings: Any) -> Iterator[None]:
    """Keep what this process knows of histories out of other tests."""
    settings.DATA_DIR = tmp_path
    histories.forget()
    yield
    histories.forget()
