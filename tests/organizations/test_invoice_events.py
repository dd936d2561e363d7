"""Invoices: what is recorded of them, once each."""

from datetime import timedelta
from typing import Any

import pytest

from billing.operations import invoices
from tests.factories.events import recorded, types
from tests.organizations.tenant import LAST_MONTH, Tenant

pytestmark = pytest.mark.django_db

DAY = timedelta(days=1)
TYPES = ("invoice", "payment")


def invoice(tenant: Tenant, type_: str, status: str, **more: Any) -> tuple[str, dict[str, Any]]:
    return type_, {
        "orgId": tenant.id,
        "invoiceId": tenant.invoice.pk,
        "number": tenant.invoice.number,
        "status": status,
        "totalMicrousd": 40_000_000,
        **more,
    }


def test_an_invoice_that_is_issued_and_charged(tenant: Tenant) -> None:
    tenant.save_method()
    for _ in range(3):
        tenant.run()
    [attempt] = tenant.attempts
    payment = {"paymentId": attempt.pk, "amountMicrousd": 40_000_000}
    assert recorded(tenant.id, *TYPES) == [
        invoice(tenant, "invoice.issued", "open"),
        invoice(tenant, "invoice.paid", "paid"),
        invoice(tenant, "invoice.charged", "paid", **payment),
    ]


def test_an_invoice_that_nobody_pays(tenant: Tenant) -> None:
    tenant.run()
    tenant.run(7 * DAY)
    tenant.run(DAY)
    assert recorded(tenant.id, *TYPES) == [
        invoice(tenant, "invoice.issued", "open"),
        invoice(tenant, "invoice.past_due", "past_due"),
    ]


def test_a_charge_that_fails_again_and_again_makes_an_invoice_past_due_once(tenant: Tenant) -> None:
    tenant.save_method("card_declined")
    tenant.run()
    tenant.run(4 * DAY)
    first, second = tenant.attempts
    failure = {"amountMicrousd": 40_000_000, "failureCode": "card_declined"}
    assert recorded(tenant.id, *TYPES) == [
        invoice(tenant, "invoice.issued", "open"),
        invoice(tenant, "invoice.past_due", "past_due"),
        invoice(tenant, "payment.failed", "past_due", paymentId=first.pk, **failure),
        invoice(tenant, "payment.failed", "past_due", paymentId=second.pk, **failure),
    ]
    tenant.save_method()
    tenant.run()
    assert types(tenant.id, *TYPES)[4:] == ["invoice.paid", "invoice.charged"]


def test_an_invoice_of_nothing_is_issued_and_paid(tenant: Tenant) -> None:
    drafted = invoices.draft(tenant.id, LAST_MONTH, [], now=tenant.now)
    assert invoices.issue(drafted.pk, now=tenant.now)
    data = {"totalMicrousd": 0}
    assert recorded(tenant.id, *TYPES) == [
        (type_, {**invoice(tenant, type_, "paid")[1], **data}) for type_ in ("invoice.issued", "invoice.paid")
    ]


def test_an_organization_that_cannot_assign_seats_until_it_has_paid_is_suspended_once(tenant: Tenant) -> None:
    tenant.run()
    tenant.run(7 * DAY)
    tenant.run(DAY)
    assert recorded(tenant.id, "organization") == [("organization.suspended", {"orgId": tenant.id})]
