"""Reports of a month agree with what its calls add up to, to the microsecond of its ends."""

from datetime import datetime, timedelta

import pytest

from billing.operations import usage_days
from billing.queries import reports, usage_reports
from billing.queries.usage_export import iterate_calls
from billing.rules.usage_reports import DayUse, Use
from tests.billing.usage import month
from tests.billing.usage.month import APRIL, FEBRUARY, JANUARY, LEAP_DAY, MARCH, MONTHS, TICK, Call
from tests.factories.billing import Purse, settle

pytestmark = pytest.mark.django_db

Month = tuple[datetime, datetime]

HORIZONS = (JANUARY, FEBRUARY, FEBRUARY + TICK, LEAP_DAY + timedelta(hours=12), MARCH, MARCH + TICK, APRIL)


@pytest.fixture
def purse() -> Purse:
    return Purse("organization", "org_acme").pay(1_000_000)


@pytest.fixture
def calls(purse: Purse) -> list[Call]:
    """Have calls around the ends of three months, and another owner's among them."""
    calls = list(month.scenario())
    month.make(purse, calls)
    month.make(Purse().pay(1_000_000), calls[:5])
    return calls


def check(purse: Purse, calls: list[Call]) -> None:
    for span in MONTHS:
        check_sums(purse, calls, span)
        check_days(purse, calls, span)
        check_export(purse, calls, span)


def check_sums(purse: Purse, calls: list[Call], span: Month) -> None:
    by_member = usage_reports.by_product_and_member(purse.owner, span)
    by_model, by_app = usage_reports.by_model(purse.owner, span), usage_reports.by_app(purse.owner, span)
    by_subject = month.expected(calls, *span, lambda call: (call.product, call.member, call.did))
    assert {(row.product, row.membership_id, row.did): row.use for row in by_member.rows} == by_subject
    assert {row.model: row.use for row in by_model.rows} == month.expected(calls, *span, lambda call: call.model)
    assert {row.client_id: row.use for row in by_app.rows} == month.expected(calls, *span, lambda call: call.app)
    assert by_app.total == by_model.total
    assert (
        usage_reports.total(purse.owner, span) == by_member.total == by_model.total == sum(by_subject.values(), Use())
    )
    assert by_member.others == by_model.others == Use()
    spent = [row.use.charged_microusd for row in by_member.rows]
    assert spent == sorted(spent, reverse=True)
    used = {(one.subject.product, one.subject.membership_id): one for one in reports.usage(purse.owner, span)}
    assert {key: one.charged_microusd for key, one in used.items()} == {
        (product, member): use.charged_microusd for (product, member, _), use in by_subject.items()
    }


def check_days(purse: Purse, calls: list[Call], span: Month) -> None:
    days = usage_reports.by_day(purse.owner, span)
    assert [one.day for one in days] == month.days_of(*span)
    for one, start in zip(days, (span[0] + timedelta(days=number) for number in range(len(days))), strict=True):
        whole = month.expected(calls, start, start + timedelta(days=1), lambda call: None)
        assert one == DayUse(start.date(), whole.get(None, Use()))


def check_export(purse: Purse, calls: list[Call], span: Month) -> None:
    start, end = span
    meant = [
        call
        for call in calls
        if start <= call.begun_at < end or (call.charge and call.closed_at and start <= call.closed_at < end)
    ]
    for calls_a_page in (3, 1000):
        found = list(iterate_calls(purse.owner, span, page=calls_a_page))
        assert len({call.usage_id for call in found}) == len(found)
        assert sorted((call.begun_at, call.charged_microusd) for call in found) == sorted(
            (call.begun_at, call.charge or 0) for call in meant
        )
        assert [call.begun_at for call in found] == sorted(call.begun_at for call in found)
        charged = sum(call.charged_in_month_microusd for call in found)
        assert charged == usage_reports.by_model(purse.owner, span).total.charged_microusd


def test_a_report_adds_up_to_its_calls_however_far_the_job_came(purse: Purse, calls: list[Call]) -> None:
    check(purse, calls)
    counted = 0
    for horizon in HORIZONS:
        counted += usage_days.roll_up_until(horizon)
        check(purse, calls)
    assert counted == sum(call.charge is not None for call in (*calls, *calls[:5]))


def test_a_report_keeps_what_it_does_not_show_in_one_sum(purse: Purse) -> None:
    for number, cost in enumerate((5, 40, 30, 20)):
        settle(purse.call(50, membership_id=f"mem_{number}", now=FEBRUARY), cost, now=FEBRUARY)
    report = usage_reports.by_product_and_member(purse.owner, (FEBRUARY, MARCH), rows_max=2)
    assert [(row.membership_id, row.use.charged_microusd) for row in report.rows] == [("mem_1", 40), ("mem_2", 30)]
    assert (report.others.calls, report.others.charged_microusd, report.others_rows) == (2, 25, 2)
    assert (report.total.calls, report.total.charged_microusd) == (4, 95)


@pytest.mark.parametrize("is_rolled_up", [False, True])
def test_a_free_call_that_ends_in_the_next_month_is_no_row_there(purse: Purse, is_rolled_up: bool) -> None:
    settle(purse.call(50, membership_id="mem_1", now=FEBRUARY - TICK), 0, now=FEBRUARY)
    if is_rolled_up:
        usage_days.roll_up_until(MARCH)
    assert usage_reports.by_product_and_member(purse.owner, (FEBRUARY, MARCH)).rows == ()
    assert reports.usage(purse.owner, (FEBRUARY, MARCH)) == []
    assert usage_reports.total(purse.owner, (JANUARY, FEBRUARY)).calls == 1


def test_an_owner_without_calls_or_wallet_used_nothing(purse: Purse) -> None:
    for owner in (purse.owner, ("account", "did:web:nobody")):
        assert usage_reports.by_model(owner, (FEBRUARY, MARCH)).rows == ()
        assert usage_reports.by_product_and_member(owner, (FEBRUARY, MARCH)).total == Use()
        assert usage_reports.total(owner, (FEBRUARY, MARCH)) == Use()
        assert len(usage_reports.by_day(owner, (FEBRUARY, MARCH))) == 29
        assert list(iterate_calls(owner, (FEBRUARY, MARCH))) == []


def test_an_exported_call_says_why_it_ended(purse: Purse, calls: list[Call]) -> None:
    found = list(iterate_calls(purse.owner, (FEBRUARY, MARCH)))
    assert {call.state for call in found} == {"settled", "released", "dispatched"}
    settled = next(call for call in found if call.state == "settled" and call.charged_microusd)
    assert settled.basis == "upstream"
    assert settled.quantities["input_tokens"] == settled.charged_microusd * 20 // 3
    assert settled.quantities["images"] is None
