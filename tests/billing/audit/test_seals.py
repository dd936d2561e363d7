"""A seal covers what is committed for good, whatever is still under way."""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime, timedelta
from typing import Any

import psycopg
import pytest
from django.db import connection
from django.utils import timezone

from billing.models import MatchedDay, Seal
from billing.operations import finality, invoice_payments, invoices, payment_differences, seals
from billing.queries import audit
from gateway.core.contract.ids import new_id
from tests.factories import invoicing, matches
from tests.factories.billing import Purse, release, settle
from tests.support.concurrency import PATIENCE_SECONDS
from tests.support.database import connect
from tests.support.unguarded import unguarded

pytestmark = pytest.mark.django_db(transaction=True)
AT_ONCE = timedelta(0)
NONE_LATER = {
    **dict.fromkeys(("invoice", "invoice outcome", "invoice payment", "credit note"), 0),
    **dict.fromkeys(("provider movement", "matched day", "payment difference", "difference closing"), 0),
}


@pytest.fixture
def beside(db: None) -> Iterator[psycopg.Connection[Any]]:
    """Another session of the application."""
    with connect() as session:
        yield session


def rows_of(seal: Seal) -> dict[str, int]:
    return {noun: contents["rows"] for noun, contents in seal.contents.items()}


def named(*, since: datetime | None = None) -> list[str]:
    return [f"{finding.invariant}: {finding.subject}" for finding in audit.findings(since=since)]


def take_out_of_the_last_seal(nouns: str = "billing_later_nouns()") -> None:
    """Make it what an earlier version would have made, which did not know these."""
    with unguarded(), connection.cursor() as cursor:
        cursor.execute(
            "UPDATE billing_seal s SET contents = n.contents, chain = billing_seal_chain("
            "  coalesce((SELECT b.chain FROM billing_seal b WHERE b.id = s.id - 1), ''), s.id, s.begins_at, s.ends_at,"
            "  n.contents)"
            f" FROM (SELECT id, contents - {nouns}::text[] AS contents FROM billing_seal) n"
            " WHERE n.id = s.id AND s.id = (SELECT max(id) FROM billing_seal)"
        )


def forge(statement: str, rows: int | None = 1) -> None:
    with unguarded(), connection.cursor() as cursor:
        cursor.execute(statement)
        assert rows in (None, cursor.rowcount)


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
        **NONE_LATER,
    }
    assert seals.seal(margin=AT_ONCE) is None
    settle(purse.call(10), 10)
    seals.seal(margin=AT_ONCE)
    assert [rows_of(seal) for seal in Seal.objects.order_by("id")[1:]] == [{"call": 1, "transfer": 1, **NONE_LATER}]
    assert audit.findings() == []


def test_writes_each_end_of_the_chain_to_the_log(caplog: pytest.LogCaptureFixture) -> None:
    Purse().pay(1000)
    with caplog.at_level("INFO", logger=seals.log.name):
        chain = seals.seal(margin=AT_ONCE)
        seals.seal(margin=AT_ONCE)
    [line] = [record.getMessage() for record in caplog.records if record.name == seals.log.name]
    assert line.endswith(f": {chain}")


def test_counts_invoices_as_they_are_issued_paid_refused_and_credited() -> None:
    paid, refused = (invoicing.issued("org_seats", months_ago=months) for months in (2, 1))
    invoicing.drafted("org_other")
    seals.seal(margin=AT_ONCE)
    assert rows_of(Seal.objects.latest("id")) == NONE_LATER | {"invoice": 2}
    attempts = [invoicing.attempt(invoice) for invoice in (paid, refused)]
    assert seals.seal(margin=AT_ONCE) is None
    invoicing.end(attempts[0], "succeeded")
    invoicing.end(attempts[1], "requires_payment_method")
    seals.seal(margin=AT_ONCE)
    assert rows_of(Seal.objects.latest("id")) == NONE_LATER | {"invoice outcome": 1, "invoice payment": 2}
    invoicing.credit(paid, 1_000_000)
    invoices.void(refused.pk, reason="Never used", now=timezone.now())
    seals.seal(margin=AT_ONCE)
    counted = rows_of(Seal.objects.latest("id"))
    assert counted.items() >= {"credit note": 1, "invoice outcome": 1, "invoice": 0, "invoice payment": 0}.items()
    assert audit.findings() == []
    forge("UPDATE billing_invoice SET void_reason = 'Lost' WHERE status = 'void'")
    assert named() == ["seals_match: seal 3"]


def test_counts_what_the_match_read_found_and_closed() -> None:
    matches.furnish()
    seals.seal(margin=AT_ONCE)
    counted = {"provider movement": 3, "matched day": 1, "payment difference": 3, "difference closing": 2}
    assert rows_of(Seal.objects.get()) == NONE_LATER | counted
    MatchedDay.objects.filter(matched_at=None).update(matched_at=timezone.now())
    payment_differences.close(matches.BOOKS, matches.OPEN, now=timezone.now())
    seals.seal(margin=AT_ONCE)
    assert rows_of(Seal.objects.latest("id")) == NONE_LATER | {"matched day": 1, "difference closing": 1}
    assert audit.findings() == []


def test_seals_what_a_wrong_clock_found() -> None:
    """A run dates what it finds by its own clock, and movements by the provider's."""
    for days in (-400, 400):
        found = matches.unknown(new_id("txn"))
        payment_differences.record(matches.BOOKS, found, now=timezone.now() + timedelta(days=days))
        payment_differences.close(matches.BOOKS, found.transaction_id, now=timezone.now() + timedelta(days=days))
        seals.seal(margin=AT_ONCE)
    assert [sum(rows_of(seal).values()) for seal in Seal.objects.order_by("id")] == [2, 2]
    assert audit.findings() == []


def test_the_first_seal_that_knows_the_match_covers_what_was_there_before_it_was_dated() -> None:
    invoicing.issued("org_seats", months_ago=2)
    matches.furnish()
    tables = ("provider_movement", "matched_day", "payment_difference", "difference_closing")
    for table in tables:
        forge(f"UPDATE billing_{table} SET recorded_at = NULL", rows=None)
    seals.seal(margin=AT_ONCE)
    take_out_of_the_last_seal("'{provider movement,matched day,payment difference,difference closing}'")
    assert rows_of(Seal.objects.get()) == {"invoice": 1, "invoice outcome": 0, "invoice payment": 0, "credit note": 0}
    assert audit.findings() == []
    invoicing.issued("org_seats", months_ago=1)
    seals.seal(margin=AT_ONCE)
    counted = {"provider movement": 3, "matched day": 1, "payment difference": 3, "difference closing": 2}
    assert rows_of(Seal.objects.latest("id")) == NONE_LATER | {"invoice": 1} | counted
    assert audit.findings() == []
    forge("DELETE FROM billing_difference_closing WHERE closed_by IS NOT NULL")
    assert named() == ["seals_match: seal 2"]


def test_seals_what_a_slow_job_dates_back() -> None:
    """A job dates all its invoices by the instant at which it began."""
    began = timezone.now() - timedelta(hours=1)
    invoice = invoicing.drafted("org_seats")
    Purse().pay(1000)
    seals.seal(margin=AT_ONCE)
    invoices.issue(invoice.pk, now=began)
    attempt = invoicing.attempt(invoicing.reloaded(invoice), began)
    seals.seal(margin=AT_ONCE)
    invoice_payments.apply(attempt.pk, invoicing.record_of(attempt, "succeeded"), began)
    seals.seal(margin=AT_ONCE)
    assert [sum(rows_of(seal).values()) for seal in Seal.objects.order_by("id")[1:]] == [1, 2]
    assert audit.findings() == []


def test_the_first_seal_that_knows_invoices_covers_all_that_were_there() -> None:
    paid = invoicing.paid("org_seats", months_ago=3)
    invoicing.credit(paid, 1_000_000)
    Purse().pay(1000)
    seals.seal(margin=AT_ONCE)
    take_out_of_the_last_seal()
    assert audit.findings() == []
    invoicing.issued("org_seats", months_ago=2)
    upgraded_at = timezone.now()
    seals.seal(margin=AT_ONCE)
    assert rows_of(Seal.objects.latest("id")) == NONE_LATER | {
        "invoice": 2,
        "invoice outcome": 1,
        "invoice payment": 1,
        "credit note": 1,
    }
    invoicing.issued("org_seats", months_ago=1)
    seals.seal(margin=AT_ONCE)
    assert rows_of(Seal.objects.latest("id")) == NONE_LATER | {"invoice": 1}
    assert audit.findings() == audit.findings(since=upgraded_at) == []
    forge("UPDATE billing_credit_note SET reason = 'Goodwill'")
    assert named() == named(since=upgraded_at) == ["seals_match: seal 2"]


def test_a_seal_covers_the_invoices_that_an_earlier_version_left_out() -> None:
    """After an upgrade that was undone, and made again."""
    for months in (4, 3, 2):
        invoicing.issued("org_seats", months_ago=months)
        Purse().pay(1000)
        since = timezone.now()
        seals.seal(margin=AT_ONCE)
        if months == 3:
            take_out_of_the_last_seal()
        assert audit.findings() == audit.findings(since=since) == []
    assert [rows_of(seal).get("invoice") for seal in Seal.objects.order_by("id")] == [1, None, 2]
    forge("UPDATE billing_invoice SET org_id = 'org_other' WHERE serial = 2")
    assert named() == named(since=since) == ["seals_match: seal 3"]


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
        assert sealing.result(timeout=PATIENCE_SECONDS) is not None
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
