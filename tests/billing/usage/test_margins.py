"""Margins sum each closed call once, and the alarm for a model is raised when it begins to be sold below its cost."""

from datetime import timedelta

import pytest
from django.db import connection
from django.utils import timezone

from billing.models import MarginDay, ModelMargin, UsageHorizon
from billing.operations import costs, margins, usage_days
from billing.queries import audit
from billing.queries import margins as reports
from billing.rules.margins import Margin
from billing.rules.months import month_around
from tests.factories.billing import Purse, release, settle, used_for
from tests.support.concurrency import at_once

pytestmark = pytest.mark.django_db(transaction=True)
AT_ONCE = timedelta(0)


@pytest.fixture
def version() -> int:
    """What the deployment "1" costs: as many micro-USD as a call at the tests' price, 0.15 per input token."""
    found = costs.publish("1", {"input_token": "0.15"}, now=timezone.now() - timedelta(hours=1))
    assert found is not None
    return found.pk


def sell(purse: Purse, charge: int, cost: int | None, version: int, **fields: str) -> str:
    """Settle a call with this charge and cost. The audit would not take a cost that its usage does not have."""
    call = purse.call(1000, **fields)
    known = {} if cost is None else {"cost_microusd": cost, "cost_version_id": version}
    settle(call, charge, quantities={**used_for(charge), **known}, deployment=None if cost is None else "1")
    return call


def roll_up() -> int:
    return usage_days.roll_up(margin=AT_ONCE)


def of_margins() -> list[audit.Finding]:
    return [finding for finding in audit.findings() if finding.invariant == "margin_days_match_calls"]


def test_the_report_is_the_same_before_and_after_the_job(version: int) -> None:
    purse = Purse().pay(100_000)
    sell(purse, 30, 20, version, product="studio")
    sell(purse, 50, None, version)
    sell(purse, 9, 12, version, model="cached")
    release(purse.call(100))
    purse.call(100)
    month = month_around(timezone.now())
    expected = {
        "model": {"fast": Margin(2, 80, 20, 1, 50), "cached": Margin(1, 9, 12, 0, 0)},
        "product": {"studio": Margin(1, 30, 20, 0, 0), None: Margin(2, 59, 12, 1, 50)},
        "deployment": {"1": Margin(2, 39, 32, 0, 0), None: Margin(1, 50, 0, 1, 50)},
        "closed_on": {timezone.now().date(): Margin(3, 89, 32, 1, 50)},
    }
    assert {key: reports.by(key, month) for key in reports.KEYS} == expected
    assert roll_up() == 3
    assert {key: reports.by(key, month) for key in reports.KEYS} == expected
    sell(purse, 1, 1, version)
    assert reports.by("model", month)["fast"] == Margin(3, 81, 21, 1, 50)
    assert roll_up() == 1
    assert of_margins() == []


def test_runs_at_once_and_a_rebuild_add_each_call_once(version: int) -> None:
    purse = Purse().pay(100_000)
    for charge in range(1, 8):
        sell(purse, charge, 3, version)
    assert sum(at_once(*[roll_up] * 3)) == 7
    [day] = MarginDay.objects.values_list("calls", "charged_microusd", "cost_microusd", "uncosted_calls")
    assert day == (7, 28, 21, 0)
    assert ModelMargin.objects.get().margins_microusd == [-2, -1, 0, 1, 2, 3, 4]
    assert usage_days.rebuild(margin=AT_ONCE) == 7
    assert ModelMargin.objects.get().margins_microusd == [-2, -1, 0, 1, 2, 3, 4]
    assert of_margins() == []


def test_a_reset_by_the_version_before_counts_no_call_twice(version: int) -> None:
    sell(Purse().pay(100_000), 30, 20, version)
    roll_up()
    with connection.cursor() as cursor:
        cursor.execute(
            "UPDATE billing_usage_horizon SET ends_at = '2000-01-01 00:00:00+00', calls = 0;"
            "DELETE FROM billing_usage_day; DELETE FROM billing_usage_subject"
        )
    assert roll_up() == 1
    assert MarginDay.objects.values_list("calls", flat=True).get() == 1
    assert ModelMargin.objects.get().margins_microusd == [10]


def test_what_closed_before_the_upgrade_is_not_included(version: int) -> None:
    purse = Purse().pay(100_000)
    sell(purse, 30, 20, version)
    roll_up()
    MarginDay.objects.all().delete()
    ModelMargin.objects.all().delete()
    UsageHorizon.objects.update(margins_begin_at=None)
    assert of_margins() == []
    sell(purse, 40, 10, version)
    assert roll_up() == 1
    assert MarginDay.objects.values_list("calls", "charged_microusd").get() == (1, 40)
    assert reports.begin_at() is not None
    assert of_margins() == []


def test_only_the_last_thousand_calls_of_a_model_are_kept(version: int) -> None:
    purse = Purse().pay(100_000)
    for charge in (1, 2, 3):
        sell(purse, charge, 0, version)
    roll_up()
    ModelMargin.objects.update(margins_microusd=[7] * 999 + [8])
    for charge in (4, 5):
        sell(purse, charge, 0, version)
    roll_up()
    assert ModelMargin.objects.get().margins_microusd == [7] * 997 + [8, 4, 5]


def test_the_alarm_is_raised_once_and_again_only_after_it_was_over(
    version: int, caplog: pytest.LogCaptureFixture
) -> None:
    def alarms() -> list[str]:
        found = [record.getMessage() for record in caplog.records if record.name == "billing.margins"]
        caplog.clear()
        return found

    caplog.set_level("INFO", "billing.margins")
    purse, now = Purse().pay(10_000), timezone.now()
    sell(purse, 10, 15, version)
    sell(purse, 10, None, version)
    roll_up()
    assert sum(at_once(*[lambda: margins.check(now=now)] * 3)) == 1
    assert alarms() == ["model fast is sold below its cost: the margin of its last 1 calls is -$0.000005"]
    assert margins.check(now=now) == 0
    assert [(one.model, one.calls, one.margin_microusd, one.since) for one in reports.negative()] == [
        ("fast", 1, -5, now)
    ]
    assert usage_days.rebuild(margin=AT_ONCE) == 2
    assert margins.check(now=now) == 0
    sell(purse, 10, 5, version)
    roll_up()
    assert margins.check(now=now) == 0
    assert alarms() == ["model fast is no longer sold below its cost"]
    assert reports.negative() == []
    sell(purse, 10, 11, version)
    roll_up()
    assert margins.check(now=now) == 1
    assert len(reports.negative()) == 1


def test_the_margin_is_that_of_calls_with_a_known_cost() -> None:
    margin = Margin(3, 100, 30, 1, 40)
    assert (margin.margin_microusd, margin.percent) == (30, "50.0 %")
    assert (Margin(1, 40, 0, 1, 40).margin_microusd, Margin(1, 40, 0, 1, 40).percent) == (None, "")
    assert Margin(1, 0, 5, 0, 0).margin_microusd == -5
    assert margin + margin == Margin(6, 200, 60, 2, 80)
