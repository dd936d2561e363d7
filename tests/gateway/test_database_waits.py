"""Django's own connections wait for the database for a while, never for ever."""

import threading
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from django.db import connection, connections
from psycopg import OperationalError

from accounts.models import ReplayEpoch
from gateway.core.database import pool as pools
from gateway.core.database.bounded import BoundedConnection, DatabaseHangs
from gateway.core.database.history import History, KnownHistories, histories
from gateway.core.database.outage import Outage
from gateway.core.database.replication import FRESH_SECONDS
from tests.support.concurrency import eventually
from tests.support.database import connect


@pytest.mark.django_db(transaction=True)
def test_an_answer_that_does_not_come_costs_the_connection() -> None:
    connection.ensure_connection()
    driver: Any = connection.connection
    assert isinstance(driver, BoundedConnection)
    with pytest.raises(DatabaseHangs, match=r"within 0\.2 s"), driver.limited_to(0.2):
        driver.execute("SELECT pg_sleep(10)")
    assert driver.closed
    connection.close()
    with connection.cursor() as cursor:
        cursor.execute("SELECT 1")


@pytest.mark.django_db(transaction=True)
def test_a_host_that_is_gone_leaves_time_for_the_next_one() -> None:
    """A machine without power does not even refuse a connection. Half of the connections try it first."""
    wrapper: Any = connection
    assert wrapper.get_connection_params()["connect_timeout"] <= wrapper.pool.timeout - 1
    assert pools._parameters()["connect_timeout"] <= pools.ACQUIRE_SECONDS - 1


@pytest.mark.django_db(transaction=True)
def test_connections_that_the_server_ended_are_not_lent() -> None:
    fill_pool()
    with connect() as operator:
        operator.execute(
            "SELECT pg_terminate_backend(pid, 60000) FROM pg_stat_activity"
            " WHERE pid <> pg_backend_pid() AND datname = current_database()"
        )
    for _ in range(10):
        with connection.cursor() as cursor:
            cursor.execute("SELECT 1")
        connection.close()


@pytest.mark.django_db(transaction=True)
def test_connections_to_a_former_primary_are_not_lent(
    tmp_path: Path, settings: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings.DATA_DIR = tmp_path
    monkeypatch.setattr(histories, "_known", {})
    monkeypatch.setattr(BoundedConnection, "is_service", True)
    wrapper: Any = connection
    wrapper.close()
    wrapper.close_pool()
    try:
        before = borrowed()
        newer = History(before.history.origin, before.history.began_at + timedelta(hours=1))
        ReplayEpoch.objects.update(began_at=newer.began_at)
        connection.close()
        KnownHistories(lambda: tmp_path / "database.json").enter(newer)  # as another process of this machine does
        after = borrowed()
        assert (after.history, before.closed) == (newer, True)
    finally:
        wrapper.close()
        wrapper.close_pool()


@pytest.mark.django_db(transaction=True)
def test_a_connection_to_a_server_that_refuses_writes_is_not_lent() -> None:
    with connection.cursor() as cursor:
        cursor.execute("SET default_transaction_read_only = on")
        before = cursor.connection
    before.opened_at -= FRESH_SECONDS  # else it is lent: there is probably no other server
    connection.close()
    for _ in range(10):
        ReplayEpoch.objects.update(id=1)
        connection.close()
    assert eventually(lambda: before.closed)


def borrowed() -> Any:
    """Use a connection of the pool, give it back, and return it."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT 1")
        driver = cursor.connection
    connection.close()
    return driver


@pytest.mark.django_db(transaction=True)
def test_the_server_ends_a_statement_first() -> None:
    with connection.cursor() as cursor:
        cursor.execute("SHOW statement_timeout")
        [(shown,)] = cursor.fetchall()
    assert shown not in ("0", "")


def test_one_caller_at_a_time_waits_for_an_unavailable_database() -> None:
    outage = Outage()
    with outage.attempt(), outage.attempt():
        pass  # nobody is kept while it is there
    outage.note()
    with outage.attempt(), pytest.raises(OperationalError, match="unavailable"):
        outage.attempt().__enter__()
    with outage.attempt(), outage.attempt():
        pass  # the attempt succeeded, and so ended the outage


def fill_pool() -> None:
    """Open several connections of the pool, and return them all."""
    together = threading.Barrier(4)

    def borrow() -> None:
        try:
            connection.ensure_connection()
            together.wait(60)
        finally:
            connections.close_all()

    threads = [threading.Thread(target=borrow) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
