"""Budgets under calls at once: exact in each scope and period, over midnight, and while people change them."""

from collections import Counter
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from itertools import product
from typing import Any

import pytest
from django.utils import timezone

from billing.models import Budget
from billing.operations import budgets
from billing.operations.budgets import Override
from billing.rules.budgets import BudgetPeriod, BudgetScope, Subject
from tests.billing.conftest import unsound
from tests.billing.parallel import lanes_at_once, statements_at_once
from tests.factories.billing import Purse, settle, settling
from tests.support.concurrency import at_once
from tests.support.midnight import away_from_midnight  # noqa: F401

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("away_from_midnight")]
APP = "https://app.example"
MIDNIGHT = datetime(2024, 4, 1, tzinfo=UTC)
"""The beginning of a day, a week and a month."""


@pytest.fixture(autouse=True)
def _audited(transactional_db: None) -> Iterator[None]:
    yield
    assert unsound("nothing_is_stale") == []  # calls of another year are open


def outcomes(results: list[Any]) -> Counter[str]:
    return Counter(str(result.outcome) for result in results)


def subject_of(scope: BudgetScope) -> Subject:
    """Make an owner with money and return its subject of this scope."""
    is_person = scope in (BudgetScope.ACCOUNT, BudgetScope.CLIENT)
    owner = Purse("account" if is_person else "organization").pay(100_000).owner
    return Subject(
        owner,
        product="studio" if "product" in scope else None,
        membership_id="mem_1" if "member" in scope else None,
        client_id=APP if scope == BudgetScope.CLIENT else None,
    )


def test_fifty_calls_at_once_are_exact_in_each_scope_and_period() -> None:
    tight, calls = {}, []
    for scope, period in product(BudgetScope, BudgetPeriod):
        subject = subject_of(scope)
        for other in BudgetPeriod:
            row = budgets.put(subject, limit_microusd=100 if other is period else 10_000, period=other)
            if other is period:
                tight[row.pk] = scope
        caller: dict[str, Any] = {"membership_id": "mem_1", "product": "studio", "client_id": APP}
        calls.append((Purse(*subject.owner), caller))
    lanes = [[purse.holding(10, **caller) for purse, caller in calls] for _ in range(50)]
    for held in zip(*lanes_at_once(*lanes), strict=True):
        assert outcomes(list(held)) == {"reserved": 10, "budget_exceeded": 40}
        [refusing] = {hold.budget_id for hold in held if hold.outcome == "budget_exceeded"}
        assert refusing in tight
    assert set(Budget.objects.values_list("held_microusd", flat=True)) == {100}
    assert set(Budget.objects.values_list("scope", flat=True)) == set(BudgetScope)


def test_at_midnight_nothing_is_counted_twice_or_lost() -> None:
    """Calls that were held before midnight settle after it, some by a clock that is behind, beside new calls."""
    person, before = Purse().pay(100_000), MIDNIGHT - timedelta(seconds=1)
    rows = [
        budgets.put(Subject(person.owner), limit_microusd=1000, period=period, now=before) for period in BudgetPeriod
    ]
    old = [person.call(100, now=before) for _ in range(10)]
    assert person.reserve(1, now=before).outcome == "budget_exceeded"
    settling_late = [settling(call, 40, now=MIDNIGHT) for call in old[:6]]
    settling_by_a_slow_clock = [settling(call, 40, now=before) for call in old[6:]]
    new = [person.holding(100, now=MIDNIGHT) for _ in range(30)]
    results = statements_at_once(*settling_late, *settling_by_a_slow_clock, *new)
    assert outcomes(results[:10]) == {"settled": 10}
    admitted = outcomes(results[10:])["reserved"]
    assert admitted <= 7
    for row in rows:
        row.refresh_from_db()
        assert (row.spent_at(MIDNIGHT), row.held_microusd) == (240, 100 * admitted)
        assert row.period_start == MIDNIGHT.date()
    left = 1000 - 240 - 100 * admitted
    assert person.reserve(left + 1, now=MIDNIGHT).outcome == "budget_exceeded"
    assert person.reserve(left, now=MIDNIGHT).outcome == "reserved"


def test_first_budgets_at_once_are_one_and_count_all_that_runs() -> None:
    person, now = Purse().pay(100_000), timezone.now()
    calls = [person.call(10, client_id=APP) for _ in range(20)]
    puts = [
        lambda limit=limit: budgets.put(Subject(person.owner, client_id=APP), limit_microusd=limit, now=now)
        for limit in (5000, 6000)
    ]
    lanes = [settling(call, 7) for call in calls] + [person.holding(5, client_id=APP) for _ in range(10)]
    results = at_once(*puts, *(lambda lane=lane: statements_at_once(lane)[0] for lane in lanes))
    assert results[0].pk == results[1].pk
    assert outcomes(results[2:]) == {"settled": 20, "reserved": 10}
    row = Budget.objects.get()
    assert (row.spent_at(now), row.held_microusd) == (140, 50)
    assert row.limit_microusd in (5000, 6000)


def test_puts_and_disables_at_once_lose_no_call() -> None:
    org, now = Purse("organization").pay(100_000), timezone.now()
    row = budgets.put(Subject(org.owner), limit_microusd=90_000, now=now)
    override = Override(80_000, now + timedelta(days=1))
    changes: list[Any] = [
        lambda: budgets.put(Subject(org.owner), limit_microusd=70_000, now=now),
        lambda: budgets.put(Subject(org.owner), limit_microusd=60_000, override=override, now=now),
        lambda: budgets.disable(org.owner, row.pk, now=now),
        lambda: budgets.put(Subject(org.owner), limit_microusd=50_000, override=None, now=now),
    ]
    holds = [lambda: settle(org.call(10), 6) for _ in range(12)]
    results = at_once(*changes, *holds)
    assert outcomes(results[4:]) == {"settled": 12}
    row.refresh_from_db()
    assert (row.spent_at(timezone.now()), row.held_microusd) == (72, 0)
    assert (row.override_until is None) == (row.override_limit_microusd is None)
