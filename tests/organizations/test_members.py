"""Members: roles, removal, and at least one owner."""

from functools import partial

import pytest

from gateway.core.contract.errors import Forbidden, LastOwner, NotFound, NotMember
from organizations.models import AuditEntry, Membership, SeatInterval
from organizations.operations import members, seats
from organizations.rules.roles import Role
from tests.factories.organizations import Team
from tests.support.concurrency import at_once, count

pytestmark = pytest.mark.django_db


def set_role(team: Team, name: str, role: Role, by: str = "olivia") -> Membership:
    return members.change_role(
        org_id=team.id, membership_id=team[name].id, role=role, actor_did=team.people[by].account.did
    )


def remove(team: Team, name: str, by: str = "olivia") -> Membership:
    return members.remove(org_id=team.id, membership_id=team[name].id, actor_did=team.people[by].account.did)


def test_a_founder_is_the_owner() -> None:
    team = Team()
    assert team["olivia"].role == Role.OWNER
    assert team["olivia"].is_active


def test_an_admin_changes_roles_and_leaves_a_trace() -> None:
    team = Team()
    team.join("adam", Role.ADMIN)
    team.join("bob")
    before = team.organization.version
    assert set_role(team, "bob", Role.BILLING, by="adam").role == Role.BILLING
    assert team.organization.version == before + 1
    entry = AuditEntry.objects.latest("id")
    assert (entry.actor_did, entry.action, entry.subject) == (
        "did:web:studio.example:adam",
        "member.role",
        team["bob"].id,
    )
    assert entry.detail == {"before": "member", "after": "billing"}


def test_giving_the_same_role_changes_nothing() -> None:
    team = Team()
    team.join("bob")
    before = (team.organization.version, team["bob"].version, AuditEntry.objects.count())
    set_role(team, "bob", Role.MEMBER)
    assert (team.organization.version, team["bob"].version, AuditEntry.objects.count()) == before


@pytest.mark.parametrize("role", [Role.BILLING, Role.MEMBER])
def test_other_roles_cannot_change_members(role: Role) -> None:
    team = Team()
    team.join("mallory", role)
    team.join("bob")
    with pytest.raises(Forbidden):
        set_role(team, "bob", Role.ADMIN, by="mallory")
    with pytest.raises(Forbidden):
        remove(team, "bob", by="mallory")
    assert team["bob"].role == Role.MEMBER
    assert team["bob"].is_active


def test_only_an_owner_touches_the_role_owner() -> None:
    team = Team()
    team.join("adam", Role.ADMIN)
    team.join("bob")
    for attempt in (
        lambda: set_role(team, "bob", Role.OWNER, by="adam"),
        lambda: set_role(team, "olivia", Role.MEMBER, by="adam"),
        lambda: remove(team, "olivia", by="adam"),
    ):
        with pytest.raises(Forbidden):
            attempt()
    assert set_role(team, "bob", Role.OWNER).role == Role.OWNER


def test_the_last_owner_cannot_leave() -> None:
    team = Team()
    with pytest.raises(LastOwner):
        remove(team, "olivia")
    with pytest.raises(LastOwner):
        set_role(team, "olivia", Role.ADMIN)
    assert team["olivia"].role == Role.OWNER
    assert team["olivia"].is_active


def test_a_removed_owner_does_not_count() -> None:
    team = Team()
    team.join("otto", Role.OWNER)
    remove(team, "otto")
    with pytest.raises(LastOwner):
        remove(team, "olivia")


def test_removal_revokes_every_seat_and_keeps_the_history() -> None:
    team = Team()
    team.join("bob")
    for slug in ("studio", "courier"):
        team.enable(slug)
        seats.assign(org_id=team.id, product=slug, membership_id=team["bob"].id, actor_did=team.owner.did)
    removed = remove(team, "bob")
    assert removed.removed_at is not None
    assert not removed.seats.filter(assigned_at__isnull=False).exists()
    assert set(SeatInterval.objects.values_list("ended_at", flat=True)) == {removed.removed_at}


def test_removing_again_changes_nothing() -> None:
    team = Team()
    team.join("bob")
    first = remove(team, "bob")
    before = team.organization.version
    assert remove(team, "bob").removed_at == first.removed_at
    assert team.organization.version == before


def test_a_removed_member_has_no_role_to_change() -> None:
    team = Team()
    team.join("bob")
    remove(team, "bob")
    with pytest.raises(NotFound):
        set_role(team, "bob", Role.ADMIN)


def test_a_returning_person_gets_a_new_membership() -> None:
    team = Team()
    old = team.join("bob")
    remove(team, "bob")
    new = team.join("bob")
    assert new.id != old.id
    assert Membership.objects.filter(organization_id=team.id, account=old.account).count() == 2


def test_a_removed_member_manages_nothing() -> None:
    team = Team()
    team.join("adam", Role.ADMIN)
    team.join("bob")
    remove(team, "adam")
    with pytest.raises(NotMember):
        remove(team, "bob", by="adam")


def test_a_member_of_another_organization_is_not_found() -> None:
    team, other = Team(), Team("oscar", "Other")
    with pytest.raises(NotFound):
        members.remove(org_id=team.id, membership_id=other["oscar"].id, actor_did=team.owner.did)


@pytest.mark.django_db(transaction=True)
def test_two_owners_who_leave_at_once_leave_one() -> None:
    for _ in range(10):
        team = Team()
        team.join("otto", Role.OWNER)
        results = at_once(partial(remove, team, "olivia"), partial(remove, team, "otto", by="otto"))
        assert count(results, "last_owner") == 1


@pytest.mark.django_db(transaction=True)
def test_two_owners_who_demote_each_other_leave_one() -> None:
    for _ in range(10):
        team = Team()
        team.join("otto", Role.OWNER)
        results = at_once(
            partial(set_role, team, "otto", Role.MEMBER),
            partial(set_role, team, "olivia", Role.MEMBER, by="otto"),
        )
        assert count(results, "forbidden") + count(results, "last_owner") == 1
        assert Membership.objects.filter(organization_id=team.id, role=Role.OWNER).count() == 1
