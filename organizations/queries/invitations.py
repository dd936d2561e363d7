"""Queries for invitations."""

from datetime import datetime

from django.db.models import QuerySet

from gateway.core.contract.errors import InvitationUnavailable, NotFound
from organizations.models import Invitation, Membership
from organizations.rules.roles import Role, may_invite


def organization_of(token_sha256: bytes) -> str:
    """Return the id of the organization that a token is for, or raise InvitationUnavailable."""
    org_id = Invitation.objects.filter(token_sha256=token_sha256).values_list("organization_id", flat=True).first()
    if org_id is None:
        raise InvitationUnavailable
    return org_id


def acceptable_at(token_sha256: bytes, now: datetime) -> Invitation:
    """Return an invitation that can still be accepted, or raise InvitationUnavailable."""
    found = (
        Invitation.objects.select_related("invited_by__account", "organization")
        .filter(token_sha256=token_sha256, expires_at__gt=now, accepted_by__isnull=True, revoked_at__isnull=True)
        .first()
    )
    if found is None:
        raise InvitationUnavailable
    if not could_make(found.invited_by, found) or not found.invited_by.account.is_live:
        raise InvitationUnavailable(private="its maker could no longer create it")
    return found


def could_make(maker: Membership, invitation: Invitation) -> bool:
    """Return whether a member could create such an invitation now."""
    return maker.is_active and may_invite(Role(maker.role), Role(invitation.role))


def open_of(maker: Membership) -> QuerySet[Invitation]:
    """Return one maker's invitations that were neither accepted nor revoked, including expired ones."""
    return Invitation.objects.filter(invited_by=maker, accepted_by__isnull=True, revoked_at__isnull=True)


def in_organization(org_id: str, invitation_id: str) -> Invitation:
    """Return an invitation of this organization, or raise NotFound."""
    found = Invitation.objects.filter(organization_id=org_id, pk=invitation_id).first()
    if found is None:
        raise NotFound
    return found


def every_open(org_id: str, now: datetime) -> QuerySet[Invitation]:
    """Return the invitations that can still be accepted, newest first."""
    return Invitation.objects.filter(
        organization_id=org_id, expires_at__gt=now, accepted_by__isnull=True, revoked_at__isnull=True
    ).order_by("-created_at", "-id")
