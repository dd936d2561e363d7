"""Queries of the audit log."""

from django.db.models import QuerySet

from organizations.models import AuditEntry


def of_organization(org_id: str) -> QuerySet[AuditEntry]:
    """Return an organization's audit log, newest first."""
    return AuditEntry.objects.filter(organization=org_id).order_by("-id")
