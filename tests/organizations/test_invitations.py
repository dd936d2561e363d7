"""Invitations: single use, seven days, and the same error for every refusal."""

from datetime import timedelta
from functools import partial

import pytest
from django.utils import timezone

from accounts.models import Account
from gateway.core.contract.errors import Forbidden, InvitationUnavailable, NotFound
from organizations.models import AuditEntry, Invitation, Membership
from organizations.operations import invitations, members
from organizations.rules.roles import Role
from tests.factories.organizations import Team, account
from tests.support.concurrency import at_once, count

pytestmark = pytest.mark.django_db


def invite(team: Team, role: Role = Role.MEMBER, by: str = "olivia") -> tuple[Invitation, str]:
    return invitations.invite(org_id=team.id, role=role, email=None, actor_did=team.people[by].account.did)


def test_the_token_is_nowhere_in_the_database() -> None:
    _, token = invite(Team())
    assert len(token) >= 43  # 256 bits
    row = Invitation.objects.values().get()
    assert token not in str(row)
    assert bytes(row["token_sha256"]) == invitations.digest(token)
    assert token not in str(list(AuditEntry.objects.values()))


def test_expires_after_seven_days() -> None:
    invitation, token = invite(Team())
    assert invitation.expires_at - invitation.created_at == timedelta(days=7)
    Invitation.objects.update(expires_at=timezone.now())
    with pytest.raises(InvitationUnavailable):
        invitations.accept(token=token, account=account("bob"))


def test_an_accepted_invitation_gives_its_role_once() -> None:
    team = Team()
    _, token = invite(team, Role.BILLING)
    membership = invitations.accept(token=token, account=account("bob"))
    assert (membership.role, membership.organization_id) == (Role.BILLING, team.id)
    with pytest.raises(InvitationUnavailable):
        invitations.accept(token=token, account=account("carla"))


def test_every_reason_gives_the_same_answer() -> None:
    team = Team()
    _, revoked = invite(team)
    invitations.revoke(
        org_id=team.id, invitation_id=Invitation.objects.latest("created_at").id, actor_did=team.owner.did
    )
    _, own = invite(team)
    answers = []
    for token, name in ((revoked, "bob"), (own, "olivia"), ("no-such-token", "bob"), ("", "bob"), ("\ud800", "bob")):
        with pytest.raises(InvitationUnavailable) as refused:
            invitations.accept(token=token, account=account(name))
        answers.append(refused.value.body("req_1"))
    assert all(answer == answers[0] for answer in answers)


def test_an_attempt_by_a_member_does_not_use_the_invitation() -> None:
    team = Team()
    _, token = invite(team)
    with pytest.raises(InvitationUnavailable):
        invitations.accept(token=token, account=team.owner)
    assert invitations.accept(token=token, account=account("bob")).is_active


def test_only_an_owner_invites_owners() -> None:
    team = Team()
    team.join("adam", Role.ADMIN)
    with pytest.raises(Forbidden):
        invite(team, Role.OWNER, by="adam")
    assert invite(team, Role.ADMIN, by="adam")[0].role == Role.ADMIN


def test_an_accepted_invitation_cannot_be_revoked() -> None:
    team = Team()
    invitation, token = invite(team)
    invitations.accept(token=token, account=account("bob"))
    with pytest.raises(NotFound):
        invitations.revoke(org_id=team.id, invitation_id=invitation.id, actor_did=team.owner.did)


def refused(token: str, name: str = "adam") -> None:
    with pytest.raises(InvitationUnavailable):
        invitations.accept(token=token, account=account(name))


def test_a_removed_admin_does_not_come_back_by_an_invitation_of_their_own() -> None:
    team = Team()
    team.join("adam", Role.ADMIN)
    invitation, token = invite(team, Role.ADMIN, by="adam")
    members.remove(org_id=team.id, membership_id=team["adam"].id, actor_did=team.owner.did)
    refused(token)
    invitation.refresh_from_db()
    assert invitation.revoked_at is not None
    assert AuditEntry.objects.get(action="invitation.revoke").subject == invitation.id


def test_demotion_revokes_invitations_that_the_maker_may_no_longer_create() -> None:
    team = Team()
    team.join("adam", Role.OWNER)
    _, as_owner = invite(team, Role.OWNER, by="adam")
    _, as_member = invite(team, Role.MEMBER, by="adam")
    adam = team["adam"].id
    members.change_role(org_id=team.id, membership_id=adam, role=Role.ADMIN, actor_did=team.owner.did)
    refused(as_owner, "bob")
    members.change_role(org_id=team.id, membership_id=adam, role=Role.OWNER, actor_did=team.owner.did)
    refused(as_owner, "bob")  # revoked invitations remain revoked
    assert invitations.accept(token=as_member, account=account("bob")).is_active


def test_demotion_below_admin_revokes_every_invitation() -> None:
    team = Team()
    team.join("adam", Role.ADMIN)
    _, token = invite(team, by="adam")
    members.change_role(org_id=team.id, membership_id=team["adam"].id, role=Role.BILLING, actor_did=team.owner.did)
    refused(token, "bob")


def test_acceptance_asks_the_maker_s_role_itself() -> None:
    team = Team()
    team.join("adam", Role.OWNER)
    _, token = invite(team, Role.OWNER, by="adam")
    Membership.objects.filter(pk=team["adam"].id).update(role=Role.ADMIN)
    refused(token, "bob")
    Membership.objects.filter(pk=team["adam"].id).update(role=Role.OWNER, removed_at=timezone.now())
    refused(token, "bob")


def test_a_suspended_maker_s_invitations_wait_for_the_suspension_to_end() -> None:
    team = Team()
    _, token = invite(team)
    Account.objects.filter(pk=team.owner.pk).update(suspended_at=timezone.now())
    refused(token, "bob")
    Account.objects.filter(pk=team.owner.pk).update(suspended_at=None)
    assert invitations.accept(token=token, account=account("bob")).is_active


@pytest.mark.django_db(transaction=True)
def test_removal_and_acceptance_at_once_never_bring_the_removed_back() -> None:
    for _ in range(10):
        team = Team()
        adam = team.join("adam", Role.ADMIN)
        _, token = invite(team, Role.ADMIN, by="adam")
        results = at_once(
            partial(members.remove, org_id=team.id, membership_id=adam.id, actor_did=team.owner.did),
            partial(invitations.accept, token=token, account=account("adam")),
        )
        assert results[1] == "invitation_unavailable"
        assert not Membership.objects.filter(
            organization_id=team.id, account=account("adam"), removed_at__isnull=True
        ).exists()


@pytest.mark.django_db(transaction=True)
def test_two_people_at_once_give_one_membership() -> None:
    for _ in range(10):
        team = Team()
        _, token = invite(team)
        results = at_once(
            partial(invitations.accept, token=token, account=account("bob")),
            partial(invitations.accept, token=token, account=account("carla")),
        )
        assert count(results, "invitation_unavailable") == 1
        assert Membership.objects.filter(organization_id=team.id).count() == 2


@pytest.mark.django_db(transaction=True)
def test_one_person_with_two_invitations_at_once_joins_once() -> None:
    team = Team()
    tokens = [invite(team)[1] for _ in range(4)]
    results = at_once(*[partial(invitations.accept, token=token, account=account("bob")) for token in tokens])
    assert count(results, "invitation_unavailable") == 3
    assert Membership.objects.filter(organization_id=team.id, account=account("bob")).count() == 1
