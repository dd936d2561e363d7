"""A ledger with calls of October 2025, and everything that its readers say of them."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any

import pytest
from django.db import connection
from django.utils import timezone

from billing.models import Call
from billing.operations import budgets
from billing.queries import audit, charges, reports, usage, usage_calls, usage_csv, usage_pages
from billing.rules.budgets import Subject
from billing.rules.months import month_around
from billing.rules.owners import Owner
from billing.serializers.usage import render_usage
from tests.factories import months
from tests.factories.billing import ANSWER, Purse, release, review, settle
from tests.factories.months import AT, TABLES, called, held
from tests.support.database import connect

MEMBER: dict[str, Any] = {"product": "studio", "membership_id": "mem_1", "did": "did:web:studio.example:carol"}


@dataclass
class Old:
    """The ledger: who pays, and the calls by what they are."""

    purse: Purse
    org: Purse
    calls: dict[str, str] = field(default_factory=dict)

    def __getitem__(self, name: str) -> str:
        return self.calls[name]

    @property
    def movable(self) -> set[str]:
        """Return the calls that may move."""
        return {self.calls[name] for name in self.calls.keys() - {"open", "reviewed", "overrun", "recent"}}


def furnish() -> Old:
    """Make calls of October 2025 of every sort, some that stay, and one of today; seal all and add it up."""
    old = Old(Purse().pay(100_000), Purse("organization", "org_acme").pay(50_000))
    old.purse.grant(500)
    budgets.put(Subject(("organization", "org_acme")), limit_microusd=40_000, now=AT)
    for number in range(3):
        old.calls[f"paid {number}"] = called(old.purse, 100 + number, f"key {number}", AT + timedelta(hours=number))
    old.calls["of credit"] = called(old.purse, 300, "lots", product="courier")
    old.calls["of member"] = called(old.org, 50, "member", **MEMBER)
    old.calls["late"] = late = held(old.org, 70, "late", months.END - timedelta(seconds=1), **MEMBER)
    settle(late, 60, now=months.END + timedelta(seconds=1))
    old.calls["released"] = held(old.purse, 40, "released")
    release(old["released"], now=AT + timedelta(seconds=1))
    old.calls["decided"] = held(old.purse, 40, "decided")
    review(old["decided"], evidence={"charge_microusd": 7})
    settle(old["decided"], 7, basis="delivered", resolution="delivered", now=AT + timedelta(days=2))
    old.calls["open"] = held(old.purse, 25, "open")
    old.calls["reviewed"] = held(old.purse, 25, "reviewed")
    review(old["reviewed"], replay=ANSWER)
    old.calls["overrun"] = held(old.purse, 20, "overrun")
    settle(old["overrun"], 33, now=AT + timedelta(seconds=9))
    old.calls["recent"] = old.purse.call(30, "recent")
    settle(old["recent"], 20, replay=ANSWER)
    months.finish()
    return old


@pytest.fixture
def old(db: None) -> Old:
    """Make the ledger within the test's transaction."""
    return furnish()


@pytest.fixture
def dropped_tables() -> Iterator[None]:
    """Take away the months' tables that a test which commits has made."""
    yield
    with connect(autocommit=True) as database:
        drop_months(database)


def drop_months(database: Any) -> None:
    """Drop every month's table; the tests' clean-up empties the others."""
    for hot in TABLES:
        rows = database.execute(f"SELECT inhrelid::regclass FROM pg_inherits WHERE inhparent = '{hot}'::regclass")
        for (name,) in rows.fetchall():
            database.execute(f"DROP TABLE {name}")


def run(statement: str, *parameters: Any) -> list[Any]:
    """Run a statement on Django's connection."""
    with connection.cursor() as cursor:
        cursor.execute(statement, parameters or None)
        return cursor.fetchall() if cursor.description else []


def unsound() -> list[str]:
    """Audit everything but dates, which these calls have of long ago."""
    findings = [
        str(one) for one in audit.findings() if one.invariant not in {"payments_match_checkouts", "nothing_is_stale"}
    ]
    return [one for one in findings if not one.startswith("dates_are_in_order: crd_")]


def rows_of(hot: str, *, only: bool = False) -> list[Any]:
    """Return all rows that a reader of a hot table finds, or those that are in it."""
    return run(f"SELECT t::text FROM {'ONLY ' if only else ''}{hot} t ORDER BY 1")


def readings(old: Old) -> dict[str, Any]:
    """Return what every reader says of the ledger."""
    month = month_around(AT)
    return {
        "rows": {hot: rows_of(hot) for hot in TABLES},
        "seals": run("SELECT noun, at, key, digest FROM billing_sealable ORDER BY noun, key"),
        **{
            f"{owner[1]} {noun}": read for owner in (old.purse.owner, old.org.owner) for noun, read in _of(owner, month)
        },
        "of member": render_usage(usage.newest(old.org.owner, 10, member="mem_1")),
        "days": run("SELECT d::text FROM billing_usage_day d ORDER BY 1"),
        "wallets": [one.wallet for one in (old.purse, old.org)],
    }


def _of(owner: Owner, month: Any) -> Iterator[tuple[str, Any]]:
    yield "route", render_usage(usage.newest(owner, 100))
    yield "csv", list(usage_csv.rows(owner, month))
    yield "csv of the month after", list(usage_csv.rows(owner, month_around(months.END)))
    yield "used", reports.usage(owner, month)
    yield "held", reports.open_holds(owner)
    yield "page", usage_pages.of_month(owner, month, timezone.now())
    yield "calls", [str(call) for call in usage_calls.page_of(owner, month).calls]
    for call in Call.objects.filter(wallet__owner_key=owner[1]).order_by("pk"):
        found = usage_calls.one(owner, call.pk)
        assert found is not None
        yield f"receipt of {call.pk}", (str(found), found.charge_microusd, charges.components(found))
