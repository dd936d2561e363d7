"""What people are mailed about organizations: invitations, suspensions, and that no more seats can be assigned."""

from accounts.operations.addresses import verified_holder
from gateway.core.events.mail_people import Person, recipient_of_address
from gateway.core.events.models import Event, Mail
from gateway.core.events.registry import MailDraft
from gateway.core.events.rules.mail_kinds import INVITATION, SUSPENSION
from organizations.models import Invitation, Organization
from organizations.operations import invitation_tokens
from organizations.queries import mail_people
from organizations.rules.invitation_mails import ADDRESS_MAX, INVITER_MAX, MEANINGS, ORGANIZATION_MAX, PERIOD
from organizations.rules.roles import Role


def of_invitation(event: Event) -> list[MailDraft]:
    """Return the mail with the link of an invitation to the address that its maker noted, if it can still be accepted.

    The link is made again from the invitation's id (`invitation_tokens`): the event does not hold it. An address gets a bounded number of
    them, and so do an organization and an inviter: otherwise anybody could have the service mail anybody.
    """
    opened = Invitation.objects.select_related("organization", "invited_by__account")
    invitation = opened.filter(
        pk=event.data["invitationId"], accepted_by=None, revoked_at=None, expires_at__gt=event.created_at
    ).first()
    token = invitation_tokens.token_of(invitation) if invitation and invitation.email else None
    if invitation is None or token is None or not invitation.email or _is_too_much(event, invitation):
        return []
    inviter = invitation.invited_by.account
    context = {
        "inviter_name": inviter.display_name or inviter.email or "A member",
        "identity_name": f"{inviter.display_name} ({inviter.email or inviter.did})".strip(),
        "organization_name": invitation.organization.name,
        "role": invitation.role,
        "meaning": MEANINGS[Role(invitation.role)],
        "until": f"{invitation.expires_at:%-d %B %Y, %H:%M} UTC",
        "invitation_path": f"/organizations/invitation#token={token}",
    }
    return [MailDraft(_invited(invitation.email), "invitation", INVITATION.name, context)]


def of_suspension(event: Event) -> list[MailDraft]:
    """Return the mails about an organization that cannot assign seats until it has paid."""
    org_id = event.owner_key
    context = {
        "owner_name": mail_people.name_of(org_id),
        "invoices_path": mail_people.page(org_id, "invoices"),
    }
    people = mail_people.money_managers(org_id)
    return [MailDraft(person, "organization_suspended", SUSPENSION.name, context) for person in people]


def of_suspension_by_operator(event: Event) -> list[MailDraft]:
    """Return the mails about an organization that an operator has suspended, unless that was lifted already."""
    org_id = event.owner_key
    suspended = Organization.objects.filter(pk=org_id, suspended_at__isnull=False).first()
    if suspended is None:
        return []
    context = {
        "owner_name": suspended.name,
        "text": suspended.suspension_text,
        "organization_path": mail_people.page(org_id, "organization"),
    }
    people, template = mail_people.money_managers(org_id), "organization_suspended_by_operator"
    return [MailDraft(person, template, SUSPENSION.name, context) for person in people]


def _invited(email: str) -> Person:
    """Return who is invited: the account that has verified the address, as far as its switches go, without its name, which the
    inviter need not know; or the address alone."""
    holder = verified_holder(email)
    return Person(holder.did if holder else recipient_of_address(email), "", email)


def _is_too_much(event: Event, invitation: Invitation) -> bool:
    """Return whether the address, the organization or the inviter has had all of its invitations for the period."""
    since = event.created_at - PERIOD
    recent = Mail.objects.filter(kind=INVITATION.name, created_at__gt=since)
    of_organization = recent.filter(owner_kind="organization", owner_key=event.owner_key)
    made = Invitation.objects.filter(email__isnull=False, created_at__gt=since, created_at__lte=invitation.created_at)
    of_inviter = made.filter(invited_by__account=invitation.invited_by.account_id)
    return (
        of_organization.count() >= ORGANIZATION_MAX
        or of_inviter.count() > INVITER_MAX
        or recent.filter(recipient=_invited(invitation.email or "").recipient).count() >= ADDRESS_MAX
    )


MAILS = {
    "invitation.created": of_invitation,
    "organization.suspended": of_suspension,
    "organization.suspended_by_operator": of_suspension_by_operator,
}
