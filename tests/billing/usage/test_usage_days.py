"""Each call is in the days of use once, whoever adds it, however often, and whatever becomes of the run."""

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime, timedelta
from typing import Any

import psycopg
import pytest
from django.db import connection
from django.utils import timezone

from billing.models import UsageDay, UsageHorizon, UsageSubject
from billing.operations import finality, usage_days
from billing.queries import audit, usage_pages, usage_reports
from billing.rules.months import month_around
from billing.rules.usage_reports import Use
from tests.billing.usage import month
from tests.billing.usage.month import APRIL, FEBRUARY, MARCH
from tests.factories.billing import Purse, release, settle
from tests.support.concurrency import PATIENCE_SECONDS, at_once
from tests.support.database import connect

pytestmark = pytest.mark.django_db(transaction=True)

AT_ONCE = timedelta(0)
APP = "https://app.example"
ROLL_UP = "SELECT * FROM billing_roll_up_usage(%s, interval '1 year')"
Row = tuple[Any, ...]


@pytest.fixture
def purse() -> Iterator[Purse]:
    """A wallet; when the test is over, the days are what the audit makes of the calls."""
    yield Purse("organization", "org_acme").pay(1_000_000)
    assert [finding for finding in audit.findings() if finding.invariant == "usage_days_match_calls"] == []


@pytest.fixture
def beside(db: None) -> Iterator[psycopg.Connection[Any]]:
    """Another session of the application."""
    with connect() as session:
        yield session


def days() -> list[Row]:
    """Return every day as it is, by what it is about."""
    columns = ("closed_on", "begun_on", "calls", "input_tokens", "output_tokens", "charges", "charged_microusd")
    about = ("subject__wallet_id", "subject__product", "subject__membership_id", "subject__model")
    return sorted(UsageDay.objects.values_list(*about, *columns, "subject__client_id"), key=repr)


def used(purse: Purse) -> Use:
    return usage_reports.by_model(purse.owner, month_around(timezone.now())).total


def test_days_are_the_same_in_one_run_in_many_or_made_again(purse: Purse) -> None:
    calls = list(month.scenario())
    month.make(purse, calls)
    for horizon in (FEBRUARY, FEBRUARY, MARCH, FEBRUARY, APRIL):
        usage_days.roll_up_until(horizon, span=timedelta(days=7))
    found = days()
    assert sum(row[6] for row in found) == sum(call.charge is not None for call in calls)
    assert usage_days.rebuild(margin=AT_ONCE) == sum(call.charge is not None for call in calls)
    assert days() == found


def test_what_an_older_version_added_up_has_no_app(purse: Purse) -> None:
    settle(purse.call(100, client_id=APP), 30)
    usage_days.roll_up(margin=AT_ONCE)
    UsageSubject.objects.update(client_id=None)
    UsageHorizon.objects.update(apps_begin_at=None)
    settle(purse.call(100, client_id=APP), 20)
    usage_days.roll_up(margin=AT_ONCE)
    assert [(row[-1], row[-2]) for row in days()] == [(APP, 20), (None, 30)]
    assert [finding for finding in audit.findings() if finding.invariant == "usage_days_match_calls"] == []
    usage_days.rebuild(margin=AT_ONCE)
    assert [(row[-1], row[-2]) for row in days()] == [(APP, 50)]


def test_two_runs_at_once_add_each_call_once(purse: Purse, beside: psycopg.Connection[Any]) -> None:
    month.make(purse, list(month.scenario())[:20])
    usage_days.roll_up_until(FEBRUARY)
    [(_, added)] = beside.execute(ROLL_UP, [MARCH]).fetchall()
    with ThreadPoolExecutor(1) as pool:
        running = pool.submit(in_a_thread, lambda: usage_days.roll_up_until(APRIL))
        with pytest.raises(TimeoutError):
            running.result(timeout=0.5)
        beside.commit()
        assert (
            running.result(timeout=PATIENCE_SECONDS) + added + days_before(FEBRUARY) == UsageHorizon.objects.get().calls
        )
    assert sum(row[6] for row in days()) == UsageHorizon.objects.get().calls


def test_the_first_runs_at_once_add_each_call_once(purse: Purse) -> None:
    month.make(purse, list(month.scenario())[:20])
    added = at_once(*[lambda: usage_days.roll_up_until(APRIL, span=timedelta(days=7))] * 3)
    assert sum(added) == UsageHorizon.objects.get().calls == sum(row[6] for row in days()) > 0


def days_before(end: datetime) -> int:
    """Count the calls in the days that closed before a month began."""
    return sum(row[6] for row in days() if row[4] < end.date())


def in_a_thread(work: Callable[[], int]) -> int:
    try:
        return work()
    finally:
        connection.close()


def test_a_run_that_dies_leaves_nothing_and_the_next_adds_all(purse: Purse, beside: psycopg.Connection[Any]) -> None:
    settle(purse.call(100), 30)
    dying = connect()
    assert dying.execute(ROLL_UP, [timezone.now()]).fetchone()
    beside.execute("SELECT pg_terminate_backend(%s, 10000)", [dying.info.backend_pid])
    beside.rollback()
    dying.close()
    assert days() == []
    assert used(purse).charged_microusd == 30
    assert usage_days.roll_up(margin=AT_ONCE) == 1
    assert used(purse).charged_microusd == 30


def test_a_charge_of_credits_and_balance_is_added_whole(purse: Purse) -> None:
    purse.grant(10)
    purse.grant(5)
    settle(purse.call(100, membership_id="mem_1"), 30)
    release(purse.call(100))
    purse.call(100)
    assert usage_days.roll_up(margin=AT_ONCE) == 1
    [row] = days()
    assert row[6:] == (1, 200, 0, 3, 30, None)
    assert (used(purse).calls, used(purse).charged_microusd) == (2, 30)


def test_a_run_does_not_pass_what_is_not_committed_yet(purse: Purse, beside: psycopg.Connection[Any]) -> None:
    call = purse.call(100)
    beside.execute("SELECT billing_settle(%s, 30, 'upstream', '{\"input_tokens\": 200}')", [call])

    with ThreadPoolExecutor(1) as pool:
        running = pool.submit(in_a_thread, lambda: usage_days.roll_up(margin=AT_ONCE))
        with pytest.raises(TimeoutError):
            running.result(timeout=0.5)
        beside.commit()
        assert running.result(timeout=PATIENCE_SECONDS) == 1
    assert used(purse).charged_microusd == 30


def test_a_run_gives_up_where_a_transaction_does_not_end(
    purse: Purse,
    beside: psycopg.Connection[Any],
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    settle(purse.call(100), 30)
    beside.execute("SELECT pg_current_xact_id()")
    monkeypatch.setattr(finality, "WAIT_SECONDS", 0.3)
    assert usage_days.roll_up(margin=AT_ONCE) == 0
    assert "no use was added" in caplog.text
    assert used(purse).charged_microusd == 30


def test_a_report_counts_once_what_is_added_while_it_reads(purse: Purse, beside: psycopg.Connection[Any]) -> None:
    settle(purse.call(100), 30)

    def add_first(execute: Any, sql: str, *rest: Any) -> Any:
        if "billing_usage_subject" in sql:
            beside.execute(ROLL_UP, [timezone.now()])
            beside.commit()
        return execute(sql, *rest)

    with connection.execute_wrapper(add_first):
        assert (used(purse).calls, used(purse).charged_microusd) == (1, 30)
    assert len(days()) == 1
    assert (used(purse).calls, used(purse).charged_microusd) == (1, 30)


def test_a_page_shows_a_call_that_is_settled_meanwhile_as_held_or_as_charged(purse: Purse) -> None:
    call = purse.call(100)

    def settle_first(execute: Any, sql: str, *rest: Any) -> Any:
        if "held_microusd" in sql:
            at_once(lambda: settle(call, 30))
        return execute(sql, *rest)

    def shown() -> tuple[int, int | None]:
        now = timezone.now()
        page = usage_pages.of_month(purse.owner, month_around(now), now)
        return page.total.charged_microusd, page.held_microusd

    with connection.execute_wrapper(settle_first):
        assert shown() == (0, 100)
    assert shown() == (30, 0)
