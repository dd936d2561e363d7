"""Queries for memberships."""

from collections.abc import Collection
from datetime import datetime
from typing import NamedTuple

from django.db.models import QuerySet

from gateway.core.contract.errors import Forbidden, NotFound, NotMember
from organizations.models import Membership
from organizations.rules.roles import Role


def live(org_id: str, did: str) -> Membership:
    """Return the caller's own live membership. Raises NotMember, whether or not the organization exists."""
    found = (
        Membership.objects.select_related("organization")
        .filter(organization_id=org_id, account__did=did, removed_at__isnull=True)
        .first()
    )
    if found is None:
        raise NotMember
    return found


def with_role(org_id: str, did: str, roles: Collection[str]) -> Membership:
    """Return the caller's live membership with one of these roles, or raise NotMember or Forbidden."""
    membership = live(org_id, did)
    if membership.role not in roles:
        raise Forbidden
    return membership


def in_organization(org_id: str, membership_id: str, *, param: str | None = None) -> Membership:
    """Return a membership of this organization, live or removed. Raises NotFound; `param` is the request member that names
    it."""
    found = Membership.objects.select_related("account").filter(organization_id=org_id, pk=membership_id).first()
    if found is None:
        raise NotFound(param=param)
    return found


def active_in(org_id: str, membership_id: str, *, param: str | None = None) -> Membership:
    """Return an active membership of this organization. Raises NotFound; `param` is the request member that names it."""
    membership = in_organization(org_id, membership_id, param=param)
    if not membership.is_active:
        raise NotFound(param=param)
    return membership


def every(org_id: str) -> QuerySet[Membership]:
    """Return all memberships of an organization, including removed ones, newest first."""
    return Membership.objects.select_related("account").filter(organization_id=org_id).order_by("-created_at", "-id")


class ListedMember(NamedTuple):
    """A membership for lists, with its person."""

    membership_id: str
    did: str
    display_name: str
    role: str
    created_at: datetime
    removed_at: datetime | None

    @classmethod
    def of(cls, membership: Membership) -> "ListedMember":
        """Convert a membership that was loaded with its account."""
        person = membership.account
        return cls(
            membership.pk,
            person.did,
            person.display_name,
            membership.role,
            membership.created_at,
            membership.removed_at,
        )


def listed(org_id: str) -> list[ListedMember]:
    """Return all memberships of an organization as `every` does, but as columns, because models take four times as long
    to load.
    """
    columns = ("id", "account__did", "account__display_name", "role", "created_at", "removed_at")
    return [ListedMember(*row) for row in every(org_id).values_list(*columns)]


def named(org_id: str, membership_ids: Collection[str]) -> QuerySet[Membership]:
    """Return memberships of an organization with their people, live or removed, for the names on a page."""
    return Membership.objects.select_related("account").filter(organization_id=org_id, pk__in=membership_ids)


def of_person(did: str) -> QuerySet[Membership]:
    """Return a person's live memberships, newest first."""
    return (
        Membership.objects.select_related("organization")
        .filter(account__did=did, removed_at__isnull=True)
        .order_by("-created_at", "-id")
    )


def active_owners(org_id: str) -> int:
    """Return the number of an organization's remaining owners."""
    return Membership.objects.filter(organization_id=org_id, role=Role.OWNER, removed_at__isnull=True).count()
