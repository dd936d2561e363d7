"""What the organizations app contributes to the closing of an account: the person leaves every organization."""

from collections.abc import Iterator
from datetime import datetime

from django.urls import reverse

from accounts.models import Account
from accounts.operations.addresses import addresses_of
from accounts.operations.closing import CannotClose, Obstacle, Part
from gateway.core.contract.errors import LastOwner, NotMember
from organizations.models import Membership
from organizations.operations import invitations, members
from organizations.queries import memberships
from organizations.rules.roles import Role


class OrganizationsPart(Part):
    """Refuses while the person is the only owner of an organization, and ends the memberships."""

    def obstacles(self, account: Account, now: datetime) -> Iterator[Obstacle]:
        for membership in memberships.of_person(account.did):
            if membership.role == Role.OWNER and memberships.active_owners(membership.organization_id) <= 1:
                yield _last_owner(membership)

    def leave(self, account: Account, now: datetime) -> None:
        """Leave in the order of the ids, so that several people who leave the same organizations do not lock each other out."""
        invitations.forget_emails(addresses_of(account))
        for membership in sorted(memberships.of_person(account.did), key=lambda each: each.organization_id):
            try:
                members.leave(org_id=membership.organization_id, actor_did=account.did)
            except LastOwner:
                raise CannotClose([_last_owner(membership)]) from None
            except NotMember:  # removed meanwhile
                continue

    def close(self, account: Account, now: datetime) -> None:
        if memberships.of_person(account.did).exists():
            raise CannotClose([Obstacle("You have just joined an organization. Try again.")])


def _last_owner(membership: Membership) -> Obstacle:
    path = reverse("organization_members", args=[membership.organization_id])
    reason = f"You are the only owner of {membership.organization.name}. Make someone else an owner first."
    return Obstacle(reason, "Open its members", path)
