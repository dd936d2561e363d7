"""Creates, revokes and accepts invitations. SPEC: Organization-related resources, Invitation.

An invitation is valid only while its maker could still create it. Otherwise an admin who expects to be removed could
return by their own invitation.
"""

from collections.abc import Collection
from datetime import datetime, timedelta

from django.conf import settings
from django.db.models.functions import Lower

from accounts.models import Account
from accounts.operations import closing
from gateway.core.contract.errors import Forbidden, InvitationUnavailable, NotFound
from gateway.core.contract.ids import new_id
from gateway.core.database.purge import blank
from organizations.models import Invitation, Membership
from organizations.operations.changes import Change, changing, joining
from organizations.operations.invitation_tokens import digest, new_token
from organizations.operations.memberships import membership_data
from organizations.queries import invitations
from organizations.rules.roles import PEOPLE_MANAGERS, Role, may_invite, may_manage


def invite(*, org_id: str, role: Role, email: str | None, actor_did: str) -> tuple[Invitation, str]:
    """Create an invitation. Only the result contains the token, and the mail to the address, if one is given. Only an owner can
    invite owners.
    """
    invitation_id = new_id("inv")
    token = new_token(invitation_id)
    with changing(org_id, actor_did=actor_did, roles=PEOPLE_MANAGERS) as change:
        if not may_invite(change.actor_role, role):
            raise Forbidden
        assert change.actor is not None
        invitation = Invitation.objects.create(
            id=invitation_id,
            organization=change.organization,
            role=role,
            email=email,
            token_sha256=digest(token),
            invited_by=change.actor,
            created_at=change.now,
            expires_at=change.now + Invitation.LIFETIME,
        )
        change.record("invitation.create", invitation.id, role=role)
        if email:  # the event becomes its mail; the token is not in it
            change.announce("invitation.created", {"invitationId": invitation.id, "role": role})
    return invitation, token


def revoke(*, org_id: str, invitation_id: str, actor_did: str) -> Invitation:
    """Revoke an open invitation; repeating changes nothing. Raises NotFound for an accepted one."""
    with changing(org_id, actor_did=actor_did, roles=PEOPLE_MANAGERS) as change:
        invitation = invitations.in_organization(org_id, invitation_id)
        if invitation.accepted_by_id:
            raise NotFound
        if not may_manage(change.actor_role, Role(invitation.role)):
            raise Forbidden
        if invitation.revoked_at is None:
            _revoke(change, invitation)
    return invitation


def revoke_beyond(change: Change, maker: Membership) -> None:
    """Revoke open invitations whose maker was removed or demoted and could no longer create them."""
    for invitation in invitations.open_of(maker):
        if not invitations.could_make(maker, invitation):
            _revoke(change, invitation)


def accept(*, token: str, account: Account) -> Membership:
    """Join as the authenticated account. All refusals are the same InvitationUnavailable."""
    org_id = invitations.organization_of(digest(token))
    with joining(org_id, actor_did=account.did) as change:
        invitation = invitations.acceptable_at(digest(token), change.now)
        is_member = Membership.objects.filter(organization=org_id, account=account, removed_at__isnull=True).exists()
        if is_member or not closing.stays_open(account):
            raise InvitationUnavailable
        return _join(change, invitation, account)


def preview(*, token: str, now: datetime) -> Invitation:
    """Return the invitation that a token can accept. All refusals are the same InvitationUnavailable."""
    return invitations.acceptable_at(digest(token), now)


def blank_emails(*, now: datetime) -> int:
    """Delete the addresses of invitations older than `INVITATION_EMAIL_DAYS`; return how many.

    Those can no longer be accepted, and organizations see only open ones.
    """
    before = now - timedelta(days=settings.INVITATION_EMAIL_DAYS)
    return blank(Invitation.objects.filter(created_at__lt=before).order_by("created_at"), "email")


def forget_emails(emails: Collection[str]) -> None:
    """Delete these addresses, which are in lower case, from all invitations."""
    noted = Invitation.objects.filter(email__isnull=False).annotate(address=Lower("email"))
    noted.filter(address__in=emails).update(email=None)


def _revoke(change: Change, invitation: Invitation) -> None:
    invitation.revoked_at = change.now
    invitation.save(update_fields=["revoked_at"])
    change.record("invitation.revoke", invitation.id, role=invitation.role)


def _join(change: Change, invitation: Invitation, account: Account) -> Membership:
    membership = Membership.objects.create(
        id=new_id("mem"),
        organization=change.organization,
        account=account,
        role=invitation.role,
        created_at=change.now,
    )
    invitation.accepted_by = membership
    invitation.save(update_fields=["accepted_by"])
    change.record("invitation.accept", invitation.id, membershipId=membership.id, role=membership.role)
    change.announce("membership.created", membership_data(membership, account.did))
    return membership
