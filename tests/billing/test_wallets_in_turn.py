"""A job never holds one wallet while it waits for another, and what it left out is done when it comes back."""

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import psycopg
import pytest
from django.utils import timezone

from billing.models import CreditLot, Wallet
from billing.operations import ledger
from billing.operations.statement import Statement
from billing.queries import audit
from tests.factories.billing import Purse, release, state
from tests.factories.payments import take_back, top_up
from tests.support.database import connect

pytestmark = pytest.mark.django_db(transaction=True)

PATIENCE = "SET lock_timeout = '20s'"
# Of this database: other workers' tests wait for locks in theirs, on the same server.
WAITING = "SELECT FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'"


@pytest.fixture(autouse=True)
def _audited(transactional_db: None) -> Iterator[None]:
    yield
    assert audit.findings() == []


@pytest.fixture
def purses() -> list[Purse]:
    """Two wallets in the order of their ids, which is the order in which jobs come to them."""
    made = [Purse("organization", f"org_{number}").pay(1000) for number in range(2)]
    return sorted(made, key=lambda purse: wallet_of(purse).id)


def wallet_of(purse: Purse) -> Wallet:
    return Wallet.objects.get(owner_key=purse.key)


def rows(statement: Statement[Any]) -> list[Any]:
    """Run a job's statement on a connection of its own."""
    with connect(autocommit=True) as connection:
        connection.execute(PATIENCE)
        return connection.execute(statement.sql, statement.parameters).fetchall()


def locked(purse: Purse) -> psycopg.Connection[Any]:
    """Hold a wallet as a call does, until the connection is closed."""
    connection = connect()
    connection.execute("SELECT FROM billing_wallet WHERE id = %s FOR NO KEY UPDATE", [wallet_of(purse).id])
    return connection


def taken_past(busy: Purse, statement: Callable[[], Statement[Any]]) -> tuple[list[Any], list[Any]]:
    """Return what a job does while the wallet is held, and what it does once it is free."""
    with locked(busy):
        first = rows(statement())
    return first, rows(statement())


@pytest.mark.parametrize("busy", [0, 1])
def test_expired_credits(purses: list[Purse], busy: int) -> None:
    now = timezone.now()
    lots = [purse.grant(10, expires_at=now) for purse in purses]
    first, then = taken_past(purses[busy], lambda: ledger.sweep_lots(now=now))
    assert [first, then] == [[(lots[1 - busy], 10)], [(lots[busy], 10)]]
    assert not CreditLot.objects.filter(closed_at=None).exists()


@pytest.mark.parametrize("busy", [0, 1])
def test_debts(purses: list[Purse], busy: int) -> None:
    for purse in purses:
        payment = top_up(purse.owner, 100)
        call = purse.call(1100)
        take_back(payment, 100)
        release(call)
    first, then = taken_past(purses[busy], ledger.repay_debts)
    wallets = [wallet_of(purse) for purse in purses]
    assert [first, then] == [[(wallets[1 - busy].id, 100)], [(wallets[busy].id, 100)]]
    assert {wallet.debt_microusd for wallet in wallets} == {0}


@pytest.mark.parametrize("busy", [0, 1])
def test_calls_that_were_left_behind(purses: list[Purse], busy: int) -> None:
    """Whose money stays where it is: nobody's wallet is waited for."""
    calls = [purse.call(10, deadline_seconds=0) for purse in purses]
    first, then = taken_past(purses[busy], ledger.reap)
    assert (sorted(first), then) == ([(call, "review") for call in sorted(calls)], [])
    assert {state(call) for call in calls} == {"review"}


def test_where_every_wallet_is_held_it_waits_for_one(purses: list[Purse]) -> None:
    now = timezone.now()
    for purse in purses:
        purse.grant(10, expires_at=now)
    holders = [locked(purse) for purse in purses]
    with ThreadPoolExecutor(1) as pool:
        sweep = pool.submit(rows, ledger.sweep_lots(now=now))
        with connect(autocommit=True) as watcher:
            while not watcher.execute(WAITING).fetchall():
                assert not sweep.done()
        for holder in holders:
            holder.close()
        assert len(sweep.result()) == 1
    assert len(rows(ledger.sweep_lots(now=now))) == 1
