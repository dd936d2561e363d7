"""The tables of organizations, one noun per file."""

from organizations.models.audit_entry import AuditEntry
from organizations.models.entitlement import Entitlement, EntitlementInterval
from organizations.models.invitation import Invitation
from organizations.models.membership import Membership
from organizations.models.organization import Organization
from organizations.models.seat import Seat, SeatInterval

__all__ = [
    "AuditEntry",
    "Entitlement",
    "EntitlementInterval",
    "Invitation",
    "Membership",
    "Organization",
    "Seat",
    "SeatInterval",
]
