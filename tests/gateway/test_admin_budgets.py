"""The console's budgets: what is in force and spent now, whatever the row still counts."""

from datetime import UTC, datetime, timedelta

import pytest
from django.test import Client
from django.utils import timezone

from billing.operations import budgets
from billing.operations.budgets import Override
from billing.rules.budgets import BudgetPeriod, Subject
from tests.factories.billing import Purse, settle
from tests.gateway.operators import address

pytestmark = pytest.mark.django_db

UNTIL = datetime(2199, 12, 31, 12, 30, tzinfo=UTC)


def test_shows_the_current_period_and_the_other_limit(operator: Client) -> None:
    person, yesterday = Purse().pay(10_000_000), timezone.now() - timedelta(days=1)
    subject = Subject(person.owner, client_id="https://app.example")
    row = budgets.put(
        subject,
        limit_microusd=5_000_000,
        period=BudgetPeriod.DAY,
        override=Override(7_500_000, UNTIL),
        now=yesterday,
    )
    settle(person.call(3_250_000, client_id="https://app.example", now=yesterday), 3_250_000, now=yesterday)
    for where in (address("billing_budget_changelist"), address("billing_budget_change", row.pk)):
        page = operator.get(where).content.decode()
        assert "$7.50 until 2199-12-31 12:30 UTC" in page
        assert "$5.00" in page
        assert "https://app.example" in page
        assert "$3.25" not in page
    found = operator.get(address("billing_budget_changelist"), {"period": "week"})
    assert row.pk not in found.content.decode()
