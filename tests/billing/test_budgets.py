"""An organization's budgets count every hold and charge of their subject, and refuse what would pass their limit."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, date, datetime, timedelta
from typing import Any

import pytest
from django.db import IntegrityError, connection, transaction
from django.utils import timezone

from billing.models import Budget, Call, Transfer, UsageRecord
from billing.operations import budgets
from billing.queries import locked, spending
from billing.rules.budgets import Subject, begin_of
from gateway.core.contract.ids import new_id
from tests.factories.billing import Purse, release, settle
from tests.support.unguarded import unguarded

ORG = "org_acme"
OWNER = ("organization", ORG)


def put(limit: int, product: str | None = None, member: str | None = None) -> Budget:
    return budgets.put(Subject(OWNER, product, member), limit_microusd=limit, now=timezone.now())


def month_of(now: datetime) -> date:
    return begin_of("month", now)


def counted(budget: Budget) -> tuple[int, int]:
    budget.refresh_from_db()
    return budget.spent_microusd, budget.held_microusd


def test_refuses_what_spent_held_and_new_would_pass(org: Purse) -> None:
    budget = put(100)
    settle(org.pay(1000).call(40), 30)
    org.call(50)
    assert counted(budget) == (30, 50)
    before = org.wallet
    refused = org.reserve(21)
    assert (refused.outcome, refused.budget_id) == ("budget_exceeded", budget.id)
    assert counted(budget) == (30, 50)
    assert org.wallet == before
    assert org.reserve(20).outcome == "reserved"


def test_budgets_are_checked_before_funds(org: Purse) -> None:
    put(5)
    assert org.reserve(10).outcome == "budget_exceeded"


@pytest.mark.parametrize(
    ("product", "member", "scope"),
    [
        (None, None, "org"),
        ("studio", None, "product"),
        (None, "mem_1", "member"),
        ("studio", "mem_1", "member_product"),
    ],
)
def test_counts_only_its_subject(org: Purse, product: str | None, member: str | None, scope: str) -> None:
    budget = put(100, product, member)
    org.pay(1000)
    assert budget.scope == scope
    org.reserve(10, product="studio", membership_id="mem_1")
    assert counted(budget) == (0, 10)
    others: list[dict[str, Any]] = [{"product": "courier"}, {"membership_id": "mem_2"}, {}]
    for subject in others:
        org.reserve(1, **subject)
    assert counted(budget) == (0, 13 if scope == "org" else 10)


def test_every_matching_budget_counts(org: Purse) -> None:
    org.pay(1000)
    matching = [put(100), put(100, "studio"), put(100, None, "mem_1"), put(100, "studio", "mem_1")]
    others = [put(100, "courier"), put(100, None, "mem_2"), put(100, "studio", "mem_2")]
    call = org.call(60, product="studio", membership_id="mem_1")
    assert [counted(budget) for budget in matching] == [(0, 60)] * 4
    settle(call, 25)
    assert [counted(budget) for budget in matching] == [(25, 0)] * 4
    release(org.call(60, product="studio", membership_id="mem_1"))
    assert [counted(budget) for budget in matching] == [(25, 0)] * 4
    assert [counted(budget) for budget in others] == [(0, 0)] * 3


def test_tells_which_budget_refused(org: Purse) -> None:
    org.pay(1000)
    put(100)
    narrow = put(10, None, "mem_1")
    assert org.reserve(11, membership_id="mem_1").budget_id == narrow.id


def test_a_disabled_budget_refuses_nothing_but_goes_on_counting(org: Purse) -> None:
    org.pay(1000)
    budget = put(10)
    held = org.call(8)
    disabled = budgets.disable(OWNER, budget.id, now=timezone.now())
    assert disabled is not None
    assert disabled.disabled_at is not None
    other = org.call(50)
    settle(held, 5)
    assert counted(budget) == (5, 50)
    again = put(30)
    assert (again.id, again.disabled_at) == (budget.id, None)
    assert org.reserve(1).outcome == "budget_exceeded"
    release(other)
    assert org.reserve(25).outcome == "reserved"


def test_disabling_is_idempotent_and_only_for_its_own_budgets(org: Purse) -> None:
    budget = put(10)
    first = budgets.disable(OWNER, budget.id, now=timezone.now())
    again = budgets.disable(OWNER, budget.id, now=timezone.now() + timedelta(hours=1))
    assert first
    assert again
    assert first.disabled_at == again.disabled_at
    assert budgets.disable(("organization", "org_other"), budget.id, now=timezone.now()) is None
    assert budgets.disable(OWNER, new_id("bud"), now=timezone.now()) is None


def test_putting_again_replaces_the_limit_and_keeps_the_count(org: Purse) -> None:
    org.pay(1000)
    budget = put(100, "studio")
    org.call(40, product="studio")
    assert put(10, "studio").id == budget.id
    assert counted(budget) == (0, 40)
    assert org.reserve(1, product="studio").outcome == "budget_exceeded"


def test_a_budget_of_mid_month_counts_what_the_month_has_spent_and_holds(org: Purse) -> None:
    org.pay(1000)
    settle(org.call(40, product="studio", membership_id="mem_1"), 30)
    settle(org.call(40, product="studio", membership_id="mem_2"), 20)
    org.call(9, product="studio", membership_id="mem_1")
    review_of_other_month = org.call(7, product="studio", membership_id="mem_1")
    release(review_of_other_month)
    assert counted(put(100)) == (50, 9)
    assert counted(put(100, "studio", "mem_1")) == (30, 9)
    assert counted(put(100, None, "mem_2")) == (20, 0)
    assert counted(put(100, "courier")) == (0, 0)


def test_what_happens_while_the_month_is_added_up_is_counted_once(org: Purse) -> None:
    now = timezone.now()
    long_ago = now - timedelta(seconds=10)
    org.pay(1000)
    settle(org.call(40, now=long_ago), 30, now=long_ago)
    open_before = [org.call(10, now=long_ago) for _ in range(4)]
    subject, month = Subject(OWNER), month_of(long_ago)
    past = spending.charges_before(subject, month, locked.instant(subject.owner))
    assert spending.total(subject, past) == (30, 40)
    settle(open_before[0], 7)
    release(open_before[1])
    settle(org.call(9), 5)
    org.call(6)
    again = spending.charges_before(subject, month, locked.instant(subject.owner))
    assert spending.total(subject, past) == spending.total(subject, again) == (42, 26)


def test_another_organizations_calls_do_not_count(org: Purse) -> None:
    stranger = Purse("organization", "org_other").pay(100)
    settle(stranger.call(10), 10)
    stranger.call(10)
    assert counted(put(100)) == (0, 0)


def test_an_account_of_the_same_name_is_another_owner(org: Purse) -> None:
    put(1)
    assert Purse("account", ORG).pay(100).reserve(50).outcome == "reserved"


@pytest.fixture
def last_month() -> Callable[[], datetime]:
    """Return the last instant of the month before this one."""
    begin = datetime.combine(month_of(timezone.now()), datetime.min.time(), UTC)
    return lambda: begin - timedelta(microseconds=1)


def test_a_new_month_begins_with_nothing_spent(org: Purse, last_month: Callable[[], datetime]) -> None:
    then = last_month()
    budget = budgets.put(Subject(OWNER), limit_microusd=100, now=then)
    call = org.pay(1000).call(90, now=then)
    settle(call, 90, now=then)
    assert counted(budget) == (90, 0)
    assert org.reserve(11, now=then).outcome == "budget_exceeded"
    next_call = org.call(100)
    assert counted(budget) == (90, 100)
    settle(next_call, 60)
    assert counted(budget) == (60, 0)
    assert budget.period_start == month_of(timezone.now())


def test_a_hold_of_last_month_still_counts_and_is_charged_to_the_month_of_its_settlement(
    org: Purse, last_month: Callable[[], datetime]
) -> None:
    then = last_month()
    budget = budgets.put(Subject(OWNER), limit_microusd=100, now=then)
    call = org.pay(1000).call(60, now=then)
    assert org.reserve(41).outcome == "budget_exceeded"
    settle(call, 50)
    assert counted(budget) == (50, 0)


def test_a_month_never_moves_backward(org: Purse, last_month: Callable[[], datetime]) -> None:
    budget = put(100)
    settle(org.pay(1000).call(20), 20)
    release(org.call(20), now=last_month())
    assert counted(budget) == (20, 0)
    assert budget.period_start == month_of(timezone.now())


CLOCK = """
CREATE SCHEMA later;
CREATE SEQUENCE later.readings;
CREATE FUNCTION later.clock_timestamp() RETURNS timestamptz LANGUAGE sql AS $$
  SELECT CASE WHEN nextval('later.readings') <= {earlier} THEN '{begin}'::timestamptz - interval '1 microsecond'
              ELSE '{begin}'::timestamptz END $$;
SET LOCAL search_path = later, public, pg_catalog;
"""


@contextmanager
def clock_at(begin: datetime, earlier: int = 0) -> Iterator[None]:
    """Stop the database's clock at an instant, and just before it for that many first readings."""
    with connection.cursor() as cursor:
        cursor.execute(CLOCK.format(begin=begin.isoformat(), earlier=earlier))
        yield
        cursor.execute("SET LOCAL search_path = public")


def forget_budgets() -> None:
    """Delete budgets that count from a month in the future, which the audit would report."""
    with unguarded():
        Budget.objects.all().delete()


MARCH = datetime(2100, 3, 1, tzinfo=UTC)


def test_the_month_is_that_of_the_databases_clock(org: Purse) -> None:
    settle(org.pay(1000).call(40), 30)
    with clock_at(MARCH):
        budget = budgets.put(Subject(OWNER), limit_microusd=100)
        assert (budget.period_start, counted(budget)) == (MARCH.date(), (0, 0))
        settle(org.call(40), 7)
        assert counted(budget) == (7, 0)
    forget_budgets()


def test_a_month_that_ends_while_it_is_added_up_is_no_budgets_first(org: Purse) -> None:
    settle(org.pay(1000).call(40, now=MARCH), 30, now=MARCH)
    with clock_at(MARCH, earlier=1):
        budget = budgets.put(Subject(OWNER), limit_microusd=100)
    assert (budget.period_start, counted(budget)) == (MARCH.date(), (30, 0))
    assert org.reserve(71, now=MARCH).outcome == "budget_exceeded"
    forget_budgets()


def test_reads_a_stored_period_as_of_an_instant() -> None:
    now = datetime(2026, 11, 1, 0, 0, tzinfo=UTC)
    assert month_of(now - timedelta(microseconds=1)) == date(2026, 10, 1)
    assert month_of(datetime.fromisoformat("2026-11-01T01:00:00+02:00")) == date(2026, 10, 1)
    for start, spent in ((date(2026, 10, 1), 0), (date(2026, 11, 1), 70), (date(2026, 12, 1), 70)):
        budget = Budget(period="month", period_start=start, spent_microusd=70)
        assert budget.spent_at(now) == spent


def test_a_subject_has_one_budget(org: Purse) -> None:
    budget = put(10)
    with pytest.raises(IntegrityError), transaction.atomic():
        Budget.objects.create(
            id=new_id("bud"), wallet=budget.wallet, scope="org", limit_microusd=1, period_start=budget.period_start
        )


def test_a_subject_fits_its_scope(org: Purse) -> None:
    budget = put(10)
    with pytest.raises(IntegrityError), transaction.atomic():
        Budget.objects.filter(pk=budget.pk).update(product="studio")
    assert not Call.objects.exists()
    assert not UsageRecord.objects.exists()
    assert not Transfer.objects.exists()
