"""Invoices for past months: drafted once, and issued with a number."""

import logging
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta

import pytest
from django.db import transaction
from django.utils import timezone
from pytest_django import Settings

from billing import tasks as billing_tasks
from billing.models import ExternalMapping, Invoice
from billing.operations import invoices
from organizations import tasks
from organizations.models import EntitlementInterval, SeatInterval
from organizations.operations import seat_invoices
from organizations.queries import seat_estimate
from tests.factories import invoicing
from tests.factories.organizations import product
from tests.organizations.tenant import LAST_MONTH, PRICE, Tenant, state

pytestmark = pytest.mark.django_db

DAY = timedelta(days=1)


@contextmanager
def dying() -> Iterator[None]:
    """End a transaction like a process that dies before its commit."""
    with transaction.atomic():
        yield
        transaction.set_rollback(True)


def test_the_last_month_is_drafted_once(tenant: Tenant) -> None:
    assert [seat_invoices.draft_all(now=tenant.now) for _ in range(3)] == [1, 0, 0]
    invoice = tenant.invoice
    assert (invoice.status, invoice.number, invoice.total_microusd) == ("draft", None, 2 * PRICE)
    [line] = invoice.lines.all()
    days = (LAST_MONTH[1] - LAST_MONTH[0]).days
    assert (line.product, line.price_microusd, line.seat_days) == ("studio", PRICE, 2 * days)


def test_a_month_is_not_drafted_in_its_first_hour_past(tenant: Tenant) -> None:
    assert seat_invoices.draft_all(now=LAST_MONTH[1] + timedelta(minutes=59)) == 0
    assert seat_invoices.draft_all(now=LAST_MONTH[1] + timedelta(minutes=60)) == 1


def test_a_job_that_dies_within_a_draft_leaves_none(tenant: Tenant) -> None:
    with dying():
        seat_invoices.draft(tenant.id, LAST_MONTH[0], now=tenant.now)
    assert not Invoice.objects.exists()
    assert seat_invoices.draft_all(now=tenant.now) == 1


def test_one_organization_that_cannot_be_billed_delays_no_other(
    tenant: Tenant, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    other = Tenant(tenant.provider, "oscar")
    draft = seat_invoices.draft

    def fail(org_id: str, *args: object, **given: object) -> bool:
        if org_id == tenant.id:
            raise ValueError("a fault in the machine")
        return draft(org_id, *args, **given)  # type: ignore[arg-type]

    monkeypatch.setattr(seat_invoices, "draft", fail)
    with caplog.at_level(logging.ERROR):
        assert seat_invoices.draft_all(now=tenant.now) == 1
    assert other.invoice.status == "draft"
    assert tenant.id in caplog.text


def test_collection_is_off_unless_it_is_set(tenant: Tenant, settings: Settings) -> None:
    tenant.save_method()
    assert settings.SEAT_COLLECTION_FROM is None
    for _ in range(2):
        tasks.bill_seats()
        billing_tasks.collect_invoices()
        tasks.follow_debts()
    assert state(tenant) == ("draft", False)
    assert tenant.provider.charges == []


def test_the_jobs_bill_and_collect_once_it_is_set(tenant: Tenant, settings: Settings) -> None:
    tenant.save_method()
    settings.SEAT_COLLECTION_FROM = LAST_MONTH[0]
    for _ in range(2):
        tasks.bill_seats()
        billing_tasks.collect_invoices()
    assert state(tenant) == ("paid", False)
    assert len(tenant.provider.charges) == 1


def test_months_before_collection_began_stay_drafts(tenant: Tenant, settings: Settings) -> None:
    settings.SEAT_COLLECTION_FROM = LAST_MONTH[1]
    tenant.save_method()
    tasks.bill_seats()
    billing_tasks.collect_invoices()
    assert tenant.invoice.status == "draft"


def test_turning_collection_off_clears_past_due(tenant: Tenant) -> None:
    tenant.save_method("card_declined")
    tenant.run()
    assert state(tenant) == ("past_due", True)
    seat_invoices.follow_debts(collecting=False)
    assert tenant.organization.is_past_due is False


def test_a_price_that_changes_within_the_month_takes_effect_with_the_next(tenant: Tenant) -> None:
    catalogue = product("studio")
    catalogue.seat_price_microusd = 3 * PRICE
    catalogue.save()
    seat_invoices.draft_all(now=tenant.now)
    estimate = seat_estimate.estimate(tenant.id, timezone.now())
    assert (tenant.invoice.total_microusd, estimate.projected_microusd) == (2 * PRICE, 2 * PRICE)
    assert estimate.products[0].monthly_price_microusd == PRICE
    following = seat_estimate.estimate(tenant.id, timezone.now() + 32 * DAY)
    assert following.projected_microusd == 6 * PRICE


def test_externally_billed_seats_are_omitted_from_the_month_of_confirmation(tenant: Tenant) -> None:
    mapping = ExternalMapping.objects.create(
        org_id=tenant.id,
        product="studio",
        provider="stripe",
        external_org_id="acct_1",
        mode="test",
        verified_by=tenant.owner.did,
        verified_at=timezone.now(),
        created_at=LAST_MONTH[1] - timedelta(microseconds=1),
    )
    assert seat_invoices.draft_all(now=tenant.now) == 0
    ExternalMapping.objects.filter(pk=mapping.pk).update(created_at=LAST_MONTH[1])
    assert seat_invoices.draft_all(now=tenant.now) == 1


def test_more_intervals_than_a_report_shows_are_billed(tenant: Tenant, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("organizations.queries.seat_estimate.REPORT_INTERVALS_MAX", 1)
    assert seat_invoices.draft_all(now=tenant.now) == 1
    assert tenant.invoice.total_microusd == 2 * PRICE


def test_a_number_that_was_rolled_back_is_given_again(tenant: Tenant) -> None:
    other = Tenant(tenant.provider, "oscar")
    seat_invoices.draft_all(now=tenant.now)
    with dying():
        invoices.issue(tenant.invoice.pk, now=tenant.now)
        assert tenant.invoice.number == "INV-000001"
    assert [invoices.issue(one.pk, now=tenant.now) for one in (other.invoice, tenant.invoice)] == [True, True]
    assert (other.invoice.number, tenant.invoice.number) == ("INV-000001", "INV-000002")
    assert invoices.issue(other.invoice.pk, now=tenant.now) is False


def test_an_amount_below_the_minimum_charge_is_paid_at_issue(tenant: Tenant) -> None:
    invoice = invoicing.issued("org_small", price=499_999)
    assert (invoice.status, invoice.due_microusd, invoice.next_attempt_at) == ("paid", 0, None)
    assert invoicing.issued("org_large", price=500_001).due_microusd == 500_000


def test_a_fraction_of_a_cent_is_not_collected(tenant: Tenant) -> None:
    SeatInterval.objects.filter(ended_at=None).update(ended_at=LAST_MONTH[0] + DAY)
    EntitlementInterval.objects.filter(ended_at=None).update(ended_at=LAST_MONTH[0] + DAY)
    tenant.save_method()
    tenant.run()
    days = (LAST_MONTH[1] - LAST_MONTH[0]).days
    total = (2 * PRICE * 2 + days) // (2 * days)
    assert tenant.invoice.total_microusd == total
    assert [charge["amount"] for charge in tenant.provider.charges] == [total // 10_000]
