"""Jobs of the organizations app. They are idempotent: they may run twice, concurrently or late."""

from django.conf import settings
from django.utils import timezone

from gateway.core.jobs.operations.recording import job
from organizations.operations import audit_log, invitations, seat_invoices


@job("invoices")
def bill_seats() -> int:
    """Draft the invoices of past months."""
    return seat_invoices.draft_all(now=timezone.now())


@job("entries")
def purge_audit_log() -> int:
    """Delete entries of the audit log that are older than `AUDIT_DAYS`, if that is set."""
    return audit_log.purge(now=timezone.now())


@job("addresses")
def blank_invitation_emails() -> int:
    """Delete the email addresses of old invitations."""
    return invitations.blank_emails(now=timezone.now())


@job("organizations")
def follow_debts() -> int:
    """Refuse new seats to organizations with an overdue invoice, and allow them again once it is paid."""
    return seat_invoices.follow_debts(collecting=settings.SEAT_COLLECTION_FROM is not None)
