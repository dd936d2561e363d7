"""Invoices, and those that have to be collected or checked."""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from django.db.models import Exists, OuterRef, Q, QuerySet

from billing.models import (
    PENDING,
    Invoice,
    InvoiceLine,
    InvoicePayment,
    InvoiceStatus,
    OwnerKind,
    ProviderEvent,
    Wallet,
)
from billing.queries.reports import bounded
from billing.rules.invoices import GRACE, number_of
from gateway.core.contract.limits import REPORT_INVOICES_MAX

_UNDECIDED = Exists(InvoicePayment.objects.filter(invoice=OuterRef("pk"), status__in=PENDING))


_SUSPENDED = Exists(
    Wallet.objects.filter(owner_kind=OwnerKind.ORGANIZATION, owner_key=OuterRef("org_id"), is_suspended=True)
)


def is_suspended(org_id: str) -> bool:
    """Return whether an organization is suspended, so that its payment method is charged only if somebody asks for it."""
    found = Wallet.objects.filter(owner_kind=OwnerKind.ORGANIZATION, owner_key=org_id, is_suspended=True)
    return found.exists()


def of_organization(org_id: str) -> QuerySet[Invoice]:
    """Return an organization's invoices with their lines, the newest month first."""
    found = Invoice.objects.filter(org_id=org_id).prefetch_related("lines")
    return found.order_by("-period_start", "-id")


@dataclass(frozen=True, slots=True)
class ReportedInvoice:
    """An invoice as a report shows it; each line is a product, its seat-days and their amount in micro-USD."""

    invoice_id: str
    number: str | None
    status: str
    period_start: datetime
    period_end: datetime
    total_microusd: int
    lines: Sequence[tuple[str, int, int]]


def report_of(org_id: str) -> list[ReportedInvoice]:
    """List all of an organization's invoices, newest month first, or raise OrgReportLimit if one report cannot show
    them all."""
    columns = ("id", "serial", "status", "period_start", "period_end", "total_microusd")
    found = Invoice.objects.filter(org_id=org_id).order_by("-period_start", "-id")
    rows = bounded(found.values_list(*columns), REPORT_INVOICES_MAX)
    lines = _lines_of(org_id) if rows else {}
    return [
        ReportedInvoice(
            invoice_id,
            None if serial is None else number_of(serial),
            status,
            start,
            end,
            total,
            lines.get(invoice_id, ()),
        )
        for invoice_id, serial, status, start, end, total in rows
    ]


def _lines_of(org_id: str) -> dict[str, list[tuple[str, int, int]]]:
    found: dict[str, list[tuple[str, int, int]]] = defaultdict(list)
    lines = InvoiceLine.objects.filter(invoice__org_id=org_id).order_by("product")
    columns = ("invoice_id", "product", "seat_days", "amount_microusd")
    for invoice_id, product, seat_days, amount_microusd in lines.values_list(*columns):
        found[invoice_id].append((product, seat_days, amount_microusd))
    return found


def drafts(since: datetime) -> list[str]:
    """Return the ids of the drafts of months that begin at `since` or later, oldest month first."""
    found = Invoice.objects.filter(status=InvoiceStatus.DRAFT, period_start__gte=since)
    return list(found.order_by("period_start", "org_id").values_list("id", flat=True))


def to_collect(now: datetime, limit: int) -> list[str]:
    """Return the ids of the invoices that are due for collection, the longest due first, without those of suspended organizations."""
    found = Invoice.objects.filter(~_UNDECIDED, ~_SUSPENDED, next_attempt_at__lte=now)
    return list(found.order_by("next_attempt_at").values_list("id", flat=True)[:limit])


def unpaid_too_long(now: datetime) -> QuerySet[Invoice]:
    """Return the open invoices whose time to pay has passed, except those with a payment in progress."""
    return Invoice.objects.filter(~_UNDECIDED, status=InvoiceStatus.OPEN, issued_at__lte=now - GRACE)


def undecided(provider: str, is_live: bool, now: datetime, limit: int) -> list[InvoicePayment]:
    """Return the attempts due to be checked at the provider with a key of this mode, the longest due first."""
    rows = InvoicePayment.objects.filter(provider=provider, is_live=is_live, next_check_at__lte=now)
    return list(rows.order_by("next_check_at")[:limit])


def attempt_of_event(event: ProviderEvent) -> InvoicePayment | None:
    """Find the attempt of an event by the event's own ids."""
    meant = Q(payment_ref=event.object_ref)
    if event.payment_ref is not None:
        meant |= Q(payment_ref=event.payment_ref)
    if event.transaction_id is not None:
        meant |= Q(id=event.transaction_id)
    return InvoicePayment.objects.filter(meant, provider=event.provider).first()
