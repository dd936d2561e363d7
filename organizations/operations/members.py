"""Changes members' roles, removes members, and lets them leave. SPEC: States and transitions, Membership."""

from gateway.core.contract.errors import Forbidden, LastOwner
from organizations.models import Membership, Seat
from organizations.operations import invitations, seats
from organizations.operations.changes import Change, changing
from organizations.operations.memberships import membership_data
from organizations.queries import memberships
from organizations.rules.roles import PEOPLE_MANAGERS, Role, may_manage


def change_role(*, org_id: str, membership_id: str, role: Role, actor_did: str) -> Membership:
    """Change an active member's role. Setting the same role again changes nothing.

    Open invitations that the member could no longer create are revoked.

    Raises NotFound unless the membership is active in this organization, Forbidden if anyone but an owner grants or
    changes the role owner, and LastOwner if no owner would be left.
    """
    with changing(org_id, actor_did=actor_did, roles=PEOPLE_MANAGERS) as change:
        membership = memberships.active_in(org_id, membership_id)
        if not may_manage(change.actor_role, Role(membership.role), role):
            raise Forbidden
        if membership.role == role:
            return membership
        if membership.role == Role.OWNER:
            _require_an_owner(org_id)
        change.record("member.role", membership.id, before=membership.role, after=role)
        membership.role = role
        membership.version += 1
        membership.save(update_fields=["role", "version"])
        invitations.revoke_beyond(change, membership)
    return membership


def remove(*, org_id: str, membership_id: str, actor_did: str) -> Membership:
    """Remove a member, and revoke their seats and open invitations. Repeating changes nothing.

    Raises NotFound, Forbidden or LastOwner as `change_role` does.
    """
    with changing(org_id, actor_did=actor_did, roles=PEOPLE_MANAGERS) as change:
        membership = memberships.in_organization(org_id, membership_id)
        if not may_manage(change.actor_role, Role(membership.role)):
            raise Forbidden
        if membership.is_active:
            _remove(change, membership, membership.account.did)
    return membership


def leave(*, org_id: str, actor_did: str) -> None:
    """End one's own membership, as `remove` does, whatever one's role. Raises NotMember, or LastOwner."""
    with changing(org_id, actor_did=actor_did, roles=tuple(Role)) as change:
        assert change.actor is not None
        _remove(change, change.actor, actor_did, action="member.leave")


def _remove(change: Change, membership: Membership, did: str, action: str = "member.remove") -> None:
    if membership.role == Role.OWNER:
        _require_an_owner(membership.organization_id)
    change.record(action, membership.id, role=membership.role)
    membership.removed_at = change.now
    membership.version += 1
    membership.save(update_fields=["removed_at", "version"])
    seats.revoke_all(change, Seat.objects.filter(membership=membership))
    change.announce("membership.removed", membership_data(membership, did))
    invitations.revoke_beyond(change, membership)


def _require_an_owner(org_id: str) -> None:
    if memberships.active_owners(org_id) <= 1:
        raise LastOwner
