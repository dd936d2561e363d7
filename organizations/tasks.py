"""The jobs of organizations. Each may run twice, at once, or late, and changes nothing that another run has done."""

from django.conf import settings
from django.utils import timezone

from jobs.operations.recording import job
from organizations.operations import seat_invoices


@job("invoices")
def bill_seats() -> int:
    """Draft the invoices of months that are over."""
    return seat_invoices.draft_all(now=timezone.now())


@job("organizations")
def follow_debts() -> int:
    """Refuse new seats where an invoice is past due, and allow them again once it is paid."""
    return seat_invoices.follow_debts(collecting=settings.SEAT_COLLECTION_FROM is not None)
