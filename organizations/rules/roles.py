"""The roles of memberships and their permissions. SPEC: Organizations, seats, shared billing."""

from enum import StrEnum


class Role(StrEnum):
    """A person's role in an organization. A role never consumes a seat."""

    OWNER = "owner"
    ADMIN = "admin"
    BILLING = "billing"
    MEMBER = "member"


ANY = tuple(Role)
PEOPLE_MANAGERS = (Role.OWNER, Role.ADMIN)
MONEY_MANAGERS = (Role.OWNER, Role.BILLING)
OWNERS = (Role.OWNER,)
SEES_ALL_SEATS = (Role.OWNER, Role.ADMIN, Role.BILLING)


def may_manage(actor: Role, *roles: Role) -> bool:
    """Return whether the actor may grant, change or remove these roles. Only an owner may do so with the role owner."""
    return actor is Role.OWNER or Role.OWNER not in roles


def may_invite(actor: Role, role: Role) -> bool:
    """Return whether the actor may invite people with this role."""
    return actor in PEOPLE_MANAGERS and may_manage(actor, role)
