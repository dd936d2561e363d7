"""Two server processes with real sockets: caps, owners and invitations hold across both."""

from collections import Counter
from collections.abc import Iterator
from typing import Any

import httpx
import pytest

from gateway.core.contract.capabilities import Capability
from organizations.models import Invitation, Membership, Seat
from organizations.operations import invitations
from organizations.rules.roles import Role
from tests.factories.accounts import Caller
from tests.factories.organizations import Team, account
from tests.support.concurrency import at_once
from tests.support.processes import by_turns, send, two_processes
from tests.support.stage_fixtures import db  # noqa: F401


@pytest.fixture(scope="module")
def origins(django_db_setup: None, django_db_blocker: Any) -> Iterator[list[str]]:
    with django_db_blocker.unblock(), two_processes() as running:
        yield running


def caller(name: str) -> Caller:
    return Caller(account(name), tuple(Capability))


def outcomes(answers: list[httpx.Response]) -> Counter[Any]:
    return Counter(each.status_code if each.is_success else each.json()["error"]["code"] for each in answers)


def test_seats_stay_within_their_limit(origins: list[str]) -> None:
    team = Team("sarah")
    team.enable("studio", cap=3)
    people = [team.join(f"sitter{number}").id for number in range(8)]
    sarah = caller("sarah")

    def assign(origin: str, membership_id: str) -> httpx.Response:
        path = f"/v1/organizations/{team.id}/products/studio/seats/{membership_id}"
        return send(sarah, origin, "PUT", path)

    answers = at_once(*by_turns(origins, assign, people))
    assert outcomes(answers) == {200: 3, "seat_cap_reached": 5}
    assert Seat.objects.filter(membership__organization=team.id, assigned_at__isnull=False).count() == 3


def test_owners_who_remove_each_other_leave_one(origins: list[str]) -> None:
    team = Team("odd")
    team.join("even", Role.OWNER)
    ways = [(caller("odd"), team["even"].id), (caller("even"), team["odd"].id)] * 2

    def remove(origin: str, way: tuple[Caller, str]) -> httpx.Response:
        who, whom = way
        return send(who, origin, "DELETE", f"/v1/organizations/{team.id}/members/{whom}")

    answers = at_once(*by_turns([origins[0], origins[1], origins[1], origins[0]], remove, ways))
    assert outcomes(answers)[200] >= 1
    owners = Membership.objects.filter(organization=team.id, role=Role.OWNER, removed_at__isnull=True)
    assert owners.count() == 1


def test_an_invitation_that_six_people_accept_at_once_brings_one_in(origins: list[str]) -> None:
    team = Team("host")
    invitation, token = invitations.invite(org_id=team.id, role=Role.ADMIN, email=None, actor_did=team.owner.did)
    guests = [caller(f"guest{number}") for number in range(6)]

    def accept(origin: str, guest: Caller) -> httpx.Response:
        return send(guest, origin, "POST", "/v1/org-invitations/accept", {"token": token})

    answers = at_once(*by_turns(origins, accept, guests))
    assert outcomes(answers)["invitation_unavailable"] == 5
    assert Membership.objects.filter(organization=team.id).count() == 2
    assert Invitation.objects.get(pk=invitation.pk).accepted_by is not None
