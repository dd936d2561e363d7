"""Budgets of a day, a week and a month, of organizations and of persons, with overrides, as time goes on."""

from collections.abc import Iterator
from datetime import UTC, date, datetime, timedelta

import pytest
from django.db import connection

from billing.models import Budget
from billing.operations import budgets
from billing.operations.budgets import KEEP, NewOverride, Override
from billing.rules.budgets import BudgetPeriod, Subject, begin_of, period_around
from gateway.core.contract.errors import InvalidRequest
from tests.billing.conftest import unsound
from tests.factories.billing import Purse, release, settle

APP, OTHER_APP = "https://app.example", "https://other.example"
SECOND = timedelta(seconds=1)
SUNDAY = datetime(2024, 3, 31, 12, tzinfo=UTC)
"""The last day of a week and of a month."""
MIDNIGHT = datetime(2024, 4, 1, tzinfo=UTC)


@pytest.fixture
def person(db: None) -> Iterator[Purse]:
    """An account with money; the ledger is audited when the test is over, whose open calls are years old."""
    yield Purse().pay(100_000)
    assert unsound("nothing_is_stale") == []


def put(
    purse: Purse,
    limit: int,
    period: BudgetPeriod = BudgetPeriod.DAY,
    client_id: str | None = None,
    now: datetime = SUNDAY,
    override: NewOverride = KEEP,
) -> Budget:
    subject = Subject(purse.owner, client_id=client_id)
    return budgets.put(subject, limit_microusd=limit, period=period, override=override, now=now)


def put_each(purse: Purse, limit: int, now: datetime = SUNDAY) -> list[Budget]:
    return [put(purse, limit, period, now=now) for period in BudgetPeriod]


def counted(*rows: Budget) -> list[tuple[int, int]]:
    for row in rows:
        row.refresh_from_db()
    return [(row.spent_microusd, row.held_microusd) for row in rows]


def starts(*rows: Budget) -> list[str]:
    return [row.period_start.isoformat() for row in rows]


def test_a_subject_has_a_budget_for_each_kind_of_period(person: Purse) -> None:
    first = put_each(person, 100)
    assert starts(*first) == ["2024-03-31", "2024-03-25", "2024-03-01"]
    again = put_each(person, 200)
    assert [row.pk for row in again] == [row.pk for row in first]
    assert [row.limit_microusd for row in Budget.objects.all()] == [200] * 3
    assert [str(row).rpartition(" a ")[2] for row in again] == ["day", "week", "month"]


@pytest.mark.parametrize("period", BudgetPeriod)
def test_the_tightest_period_refuses(person: Purse, period: BudgetPeriod) -> None:
    rows = {one: put(person, 100 if one is period else 1000, one) for one in BudgetPeriod}
    settle(person.call(70, now=SUNDAY), 60, now=SUNDAY)
    person.call(20, now=SUNDAY)
    refused = person.reserve(21, now=SUNDAY)
    assert (refused.outcome, refused.budget_id) == ("budget_exceeded", rows[period].pk)
    assert person.reserve(20, now=SUNDAY).outcome == "reserved"
    assert counted(*rows.values()) == [(60, 40)] * 3


def test_each_period_begins_again_at_its_own_midnight(person: Purse) -> None:
    friday = datetime(2024, 3, 29, 23, 59, 59, 999_999, tzinfo=UTC)
    rows = put_each(person, 100, now=friday)
    settle(person.call(100, now=friday), 90, now=friday)
    assert person.reserve(11, now=friday).budget_id == min(row.pk for row in rows)
    later = friday + timedelta(microseconds=1)
    assert person.reserve(11, now=later).budget_id == min(row.pk for row in rows[1:])
    settle(person.call(10, now=later), 10, now=later)
    assert counted(*rows) == [(10, 0), (100, 0), (100, 0)]
    assert person.reserve(1, now=MIDNIGHT - SECOND).outcome == "budget_exceeded"
    assert person.reserve(100, now=MIDNIGHT).outcome == "reserved"
    assert counted(*rows) == [(10, 100), (100, 100), (100, 100)]


def test_a_hold_of_before_midnight_is_charged_to_the_day_of_its_settlement(person: Purse) -> None:
    before = MIDNIGHT - SECOND
    rows = put_each(person, 100)
    old, returned = person.call(60, now=before), person.call(10, now=before)
    assert person.reserve(31, now=MIDNIGHT).outcome == "budget_exceeded"
    beside = person.call(30, now=MIDNIGHT)
    settle(old, 50, now=MIDNIGHT + SECOND)
    release(returned, now=MIDNIGHT + SECOND)
    assert counted(*rows) == [(50, 30)] * 3
    settle(beside, 20, now=MIDNIGHT + SECOND)
    assert counted(*rows) == [(70, 0)] * 3
    assert starts(*rows) == ["2024-04-01"] * 3


def test_a_period_never_moves_backward(person: Purse) -> None:
    rows = put_each(person, 100)
    early, late = person.call(10, now=SUNDAY), person.call(10, now=SUNDAY)
    settle(late, 7, now=MIDNIGHT)
    settle(early, 9, now=MIDNIGHT - SECOND)
    assert counted(*rows) == [(7, 0)] * 3
    assert person.reserve(94, now=MIDNIGHT - SECOND).outcome == "budget_exceeded"


def test_a_week_goes_on_over_new_year(person: Purse) -> None:
    thursday = datetime(2020, 12, 31, 23, 59, tzinfo=UTC)
    friday, monday = datetime(2021, 1, 1, tzinfo=UTC), datetime(2021, 1, 4, tzinfo=UTC)
    rows = put_each(person, 100, now=thursday)
    assert starts(*rows) == ["2020-12-31", "2020-12-28", "2020-12-01"]
    settle(person.call(60, now=thursday), 60, now=thursday)
    assert person.reserve(41, now=friday).budget_id == rows[1].pk
    settle(person.call(40, now=friday), 40, now=friday)
    assert counted(*rows) == [(40, 0), (100, 0), (40, 0)]
    assert person.reserve(1, now=monday - SECOND).budget_id == rows[1].pk
    settle(person.call(60, now=monday), 60, now=monday)
    assert counted(*rows) == [(60, 0), (60, 0), (100, 0)]
    assert starts(*rows) == ["2021-01-04", "2021-01-04", "2021-01-01"]


def test_python_and_the_database_divide_time_alike(db: None) -> None:
    instants = [datetime(2018, 12, 20, 22, 30, tzinfo=UTC) + timedelta(hours=7 * step) for step in range(1500)]
    instants += [MIDNIGHT, MIDNIGHT - timedelta(microseconds=1)]
    with connection.cursor() as cursor:
        for period in BudgetPeriod:
            cursor.execute(
                "SELECT date_trunc(%s, t AT TIME ZONE 'UTC')::date FROM unnest(%s::timestamptz[]) WITH ORDINALITY u (t, n)"
                " ORDER BY n",
                [period.value, instants],
            )
            assert [begin_of(period, instant) for instant in instants] == [row[0] for row in cursor.fetchall()]
    assert begin_of("week", datetime(2018, 12, 31, tzinfo=UTC)) == date(2018, 12, 31)
    assert begin_of("day", datetime.fromisoformat("2024-04-01T01:00:00+02:00")) == date(2024, 3, 31)
    week = datetime(2020, 12, 28, tzinfo=UTC), datetime(2021, 1, 4, tzinfo=UTC)
    assert period_around("week", datetime(2021, 1, 3, 23, tzinfo=UTC)) == week


class TestOfPersons:
    """Budgets of an account's wallet, in total and for one app."""

    def test_an_apps_budget_counts_that_app_alone(self, person: Purse) -> None:
        total, app = put(person, 100), put(person, 50, client_id=APP)
        assert (total.scope, app.scope) == ("account", "client")
        settle(person.call(40, client_id=APP, now=SUNDAY), 30, now=SUNDAY)
        person.call(25, client_id=OTHER_APP, now=SUNDAY)
        person.call(5, now=SUNDAY)
        assert counted(total, app) == [(30, 30), (30, 0)]
        assert person.reserve(21, client_id=APP, now=SUNDAY).budget_id == app.pk
        assert person.reserve(41, client_id=OTHER_APP, now=SUNDAY).budget_id == total.pk
        assert person.reserve(40, client_id=OTHER_APP, now=SUNDAY).outcome == "reserved"

    def test_one_that_is_made_within_a_period_counts_since_its_beginning(self, person: Purse) -> None:
        for days, client_id in ((40, APP), (6, APP), (2, OTHER_APP), (0, APP)):
            at = SUNDAY - timedelta(days=days)
            settle(person.call(10 + days, client_id=client_id, now=at), 10 + days, now=at)
        person.call(7, client_id=APP, now=SUNDAY - timedelta(days=40))
        of_total, of_app = (
            [put(person, 1000, period, client_id) for period in BudgetPeriod] for client_id in (None, APP)
        )
        assert counted(*of_total) == [(10, 7), (38, 7), (38, 7)]
        assert counted(*of_app) == [(10, 7), (26, 7), (26, 7)]

    def test_another_persons_calls_do_not_count(self, person: Purse) -> None:
        row = put(person, 1, client_id=APP)
        assert Purse().pay(100).reserve(50, client_id=APP, now=SUNDAY).outcome == "reserved"
        assert counted(row) == [(0, 0)]

    def test_a_disabled_one_goes_on_counting(self, person: Purse) -> None:
        row = put(person, 10)
        assert budgets.disable(("organization", person.key), row.pk, now=SUNDAY) is None
        assert budgets.disable(person.owner, row.pk, now=SUNDAY)
        settle(person.call(30, now=SUNDAY), 30, now=SUNDAY)
        assert counted(row) == [(30, 0)]
        assert counted(put(person, 29)) == [(30, 0)]
        assert person.reserve(0, now=SUNDAY).outcome == "budget_exceeded"
        assert person.reserve(29, now=MIDNIGHT).outcome == "reserved"


class TestOverrides:
    """Another limit until an instant."""

    def test_raises_the_limit_until_it_ends(self, person: Purse) -> None:
        noon = SUNDAY
        put(person, 100, override=Override(1000, noon + SECOND), now=noon)
        call = person.call(500, now=noon)
        assert person.reserve(501, now=noon).outcome == "budget_exceeded"
        assert person.reserve(0, now=noon + SECOND).outcome == "budget_exceeded"
        settle(call, 90, now=noon + SECOND)
        assert person.reserve(11, now=noon + SECOND).outcome == "budget_exceeded"
        assert person.reserve(10, now=noon + SECOND).outcome == "reserved"

    def test_lowers_the_limit_until_it_ends(self, person: Purse) -> None:
        put(person, 100, override=Override(0, MIDNIGHT - SECOND))
        assert person.reserve(1, now=SUNDAY).outcome == "budget_exceeded"
        assert person.reserve(100, now=MIDNIGHT - SECOND).outcome == "reserved"

    def test_is_kept_replaced_and_taken_away(self, person: Purse) -> None:
        put(person, 100, override=Override(1000, MIDNIGHT))
        kept = put(person, 200)
        assert (kept.limit_microusd, kept.limit_at(SUNDAY), kept.limit_at(MIDNIGHT)) == (200, 1000, 200)
        assert (kept.override_at(SUNDAY), kept.override_at(MIDNIGHT)) == (MIDNIGHT, None)
        replaced = put(person, 200, override=Override(10, MIDNIGHT + SECOND))
        assert (replaced.limit_at(MIDNIGHT), replaced.limit_at(MIDNIGHT + SECOND)) == (10, 200)
        taken = put(person, 200, override=None)
        assert (taken.override_limit_microusd, taken.override_until, taken.limit_at(SUNDAY)) == (None, None, 200)

    def test_one_that_has_ended_is_refused(self, person: Purse) -> None:
        for until in (SUNDAY, SUNDAY - SECOND):
            with pytest.raises(InvalidRequest) as refused:
                put(person, 100, override=Override(1, until))
            assert refused.value.param == "override.until"
        assert not Budget.objects.exists()
        row = put(person, 100)
        with pytest.raises(InvalidRequest):
            put(person, 5, override=Override(1, SUNDAY))
        row.refresh_from_db()
        assert (row.limit_microusd, row.override_until) == (100, None)
