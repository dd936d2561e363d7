"""The jobs of organizations. Each may run twice, at once, or late, and changes nothing that another run has done."""

from django.conf import settings
from django.utils import timezone

from gateway.core.jobs.operations.recording import job
from organizations.operations import audit_log, invitations, seat_invoices


@job("invoices")
def bill_seats() -> int:
    """Draft the invoices of months that are over."""
    return seat_invoices.draft_all(now=timezone.now())


@job("entries")
def purge_audit_log() -> int:
    """Delete entries of the audit log that are older than `AUDIT_DAYS`, if that is set."""
    return audit_log.purge(now=timezone.now())


@job("addresses")
def blank_invitation_emails() -> int:
    """Forget the email addresses of old invitations."""
    return invitations.blank_emails(now=timezone.now())


@job("organizations")
def follow_debts() -> int:
    """Refuse new seats where an invoice is past due, and allow them again once it is paid."""
    return seat_invoices.follow_debts(collecting=settings.SEAT_COLLECTION_FROM is not None)
