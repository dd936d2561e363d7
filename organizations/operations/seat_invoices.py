"""Drafts and charges invoices for seats, and blocks new seats for organizations with overdue invoices."""

import logging
from datetime import datetime

from django.conf import settings
from django.db import transaction
from django.db.models import Exists, OuterRef

from billing.models import Invoice, InvoicePayment, InvoiceStatus
from billing.operations import invoice_payments, invoices
from billing.queries import invoices as queries
from billing.rules.invoices import SETTLED_AFTER, LineItem
from billing.rules.months import month_around
from gateway.core.contract.errors import NotFound
from gateway.core.events.operations.in_order import Happened, record
from organizations.models import Organization
from organizations.operations.changes import changing
from organizations.queries import locked, seat_months, unbilled
from organizations.rules.roles import MONEY_MANAGERS
from organizations.rules.seat_billing import SeatMonth

log = logging.getLogger("organizations.seat_invoices")


def draft_all(*, now: datetime) -> int:
    """Draft an invoice for every past month without one; return the number of months. A failure does not delay the
    others.
    """
    drafted = 0
    for month_start, org_id in unbilled.months(before=now - SETTLED_AFTER):
        try:
            drafted += draft(org_id, month_start, now=now)
        except Exception:
            log.exception("%s of organization %s could not be billed", f"{month_start:%Y-%m}", org_id)
    return drafted


@transaction.atomic
def draft(org_id: str, month_start: datetime, *, now: datetime) -> bool:
    """Draft one month's invoice; return False if it exists.

    The organization's lock waits for changes that began before the month's end, and serializes concurrent jobs.
    """
    locked.organization(org_id)
    if invoices.is_billed(org_id, month_start):
        return False
    month = month_around(month_start)
    items = [_item(one) for one in seat_months.of(org_id, month) if not one.is_externally_billed]
    invoices.draft(org_id, month, items, now=now)
    return True


def pay_now(*, org_id: str, invoice_id: str, actor_did: str) -> InvoicePayment | None:
    """Charge one of the organization's unpaid invoices now; return None if no payment method is saved or nothing is
    due.

    Raises NotFound if the organization has no such invoice, and the errors of
    `billing.operations.invoice_payments.pay_now`.
    """
    with changing(org_id, actor_did=actor_did, roles=MONEY_MANAGERS) as change:
        invoice = queries.of_organization(org_id).filter(pk=invoice_id).exclude(serial=None).first()
        if invoice is None:
            raise NotFound
        change.record("invoice.pay", str(invoice))
    payment = invoice_payments.pay_now(invoice_id, now=change.now, requested_by=actor_did)
    follow_debts(collecting=settings.SEAT_COLLECTION_FROM is not None)
    return payment


def follow_debts(*, collecting: bool) -> int:
    """Set `is_past_due` for organizations with an overdue invoice, and clear it for all others, or for all unless
    `collecting`; return how many changed. That an organization is set is recorded once.
    """
    owes = Exists(Invoice.objects.filter(org_id=OuterRef("pk"), status=InvoiceStatus.PAST_DUE))
    flagged = Organization.objects.filter(is_past_due=True)
    cleared = (flagged.exclude(owes) if collecting else flagged).update(is_past_due=False)
    if not collecting:
        return cleared
    return cleared + _suspend(owes)


@transaction.atomic
def _suspend(owes: Exists) -> int:
    owing = Organization.objects.filter(owes, is_past_due=False).order_by("pk")
    suspended = list(owing.select_for_update(no_key=True).values_list("pk", flat=True))
    Organization.objects.filter(pk__in=suspended).update(is_past_due=True)
    record([Happened("organization", org_id, "organization.suspended", {"orgId": org_id}) for org_id in suspended])
    return len(suspended)


def _item(month: SeatMonth) -> LineItem:
    return LineItem(month.product, month.price_microusd, month.seat_days(), month.cost_microusd())
