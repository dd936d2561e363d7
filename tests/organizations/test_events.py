"""Members and seats: each way by which one comes or goes is recorded once, and only the right products hear of it."""

from typing import Any

import pytest
from django.utils import timezone

from accounts.models import Integration
from accounts.operations import closing
from gateway.core.contract.errors import LastOwner, SeatCapReached
from gateway.core.events.models import Event
from gateway.core.events.registry import kind_of
from organizations.operations import members, products, seats
from organizations.rules.roles import Role
from tests.factories.events import recorded
from tests.factories.organizations import Team, account, product

pytestmark = pytest.mark.django_db


def since(team: Team, step: Any) -> list[tuple[str, dict[str, Any]]]:
    """Return what a step records for an organization."""
    before = len(recorded(team.id))
    step()
    return recorded(team.id)[before:]


def membership(type_: str, team: Team, name: str, role: str = "member") -> tuple[str, dict[str, Any]]:
    member = team.people[name]
    return f"membership.{type_}", {
        "orgId": team.id,
        "membershipId": member.pk,
        "did": f"did:web:studio.example:{name}",
        "role": role,
    }


def seat(type_: str, team: Team, name: str, slug: str = "studio") -> tuple[str, dict[str, Any]]:
    return f"seat.{type_}", {"orgId": team.id, "product": slug, "membershipId": team.people[name].pk}


def by_owner(team: Team, name: str, slug: str = "studio") -> dict[str, str]:
    return {
        "org_id": team.id,
        "product": slug,
        "membership_id": team.people[name].pk,
        "actor_did": team.owner.did,
    }


@pytest.fixture
def team() -> Team:
    """An organization with Bob, who has a seat for the studio."""
    team = Team()
    team.enable("studio")
    team.join("bob")
    seats.assign(**by_owner(team, "bob"))
    return team


def test_whoever_founds_an_organization_is_its_first_member() -> None:
    team = Team()
    assert recorded(team.id) == [membership("created", team, "olivia", "owner")]


def test_an_accepted_invitation_and_a_seat(team: Team) -> None:
    assert recorded(team.id)[1:] == [membership("created", team, "bob"), seat("assigned", team, "bob")]
    assert Event.objects.get(type="seat.assigned").product == "studio"


def test_repeating_records_nothing(team: Team) -> None:
    assert since(team, lambda: seats.assign(**by_owner(team, "bob"))) == []
    assert since(team, lambda: seats.revoke(**by_owner(team, "bob"))) == [seat("revoked", team, "bob")]
    assert since(team, lambda: seats.revoke(**by_owner(team, "bob"))) == []


def test_a_refusal_records_nothing(team: Team) -> None:
    team.join("carla")
    products.set_cap(org_id=team.id, product="studio", max_seats=1, actor_did=team.owner.did)
    before = Event.objects.count()
    with pytest.raises(SeatCapReached):
        seats.assign(**by_owner(team, "carla"))
    with pytest.raises(LastOwner):
        members.leave(org_id=team.id, actor_did=team.owner.did)
    assert Event.objects.count() == before


def test_a_member_who_is_removed_loses_all_seats(team: Team) -> None:
    team.enable("courier")
    seats.assign(**by_owner(team, "bob", "courier"))
    bob = {"org_id": team.id, "membership_id": team["bob"].pk, "actor_did": team.owner.did}
    found = since(team, lambda: members.remove(**bob))
    assert sorted(found, key=str) == sorted(
        [seat("revoked", team, "bob"), seat("revoked", team, "bob", "courier"), membership("removed", team, "bob")],
        key=str,
    )
    assert found[-1] == membership("removed", team, "bob")
    assert since(team, lambda: members.remove(**bob)) == []


def test_a_member_who_leaves(team: Team) -> None:
    found = since(team, lambda: members.leave(org_id=team.id, actor_did=account("bob").did))
    assert found == [seat("revoked", team, "bob"), membership("removed", team, "bob")]


def test_another_role_is_neither(team: Team) -> None:
    bob = {"org_id": team.id, "membership_id": team["bob"].pk, "actor_did": team.owner.did}
    assert since(team, lambda: members.change_role(role=Role.ADMIN, **bob)) == []


def test_a_product_that_is_disabled_loses_its_seats(team: Team) -> None:
    team.join("carla")
    seats.assign(**by_owner(team, "carla"))
    acme = {"org_id": team.id, "product": "studio", "actor_did": team.owner.did}
    found = since(team, lambda: products.disable(**acme))
    assert sorted(found, key=str) == sorted([seat("revoked", team, "bob"), seat("revoked", team, "carla")], key=str)
    assert since(team, lambda: products.disable(**acme)) == []


def test_a_person_who_closes_their_account_leaves_every_organization(team: Team) -> None:
    other = Team("oscar", name="Other")
    other.join("bob")
    assert closing.close(account=account("bob"), now=timezone.now())
    assert recorded(team.id)[-2:] == [seat("revoked", team, "bob"), membership("removed", team, "bob")]
    assert recorded(other.id)[-1:] == [membership("removed", other, "bob")]
    last = Event.objects.order_by("-id")[:3]
    assert [event.owner_key for event in reversed(last)] == sorted([team.id, team.id, other.id])


def test_an_account_that_cannot_be_closed_records_nothing(team: Team) -> None:
    before = Event.objects.count()
    with pytest.raises(closing.CannotClose):
        closing.close(account=team.owner, now=timezone.now())
    assert Event.objects.count() == before


def event(owner: tuple[str, str], type_: str, slug: str | None = None) -> Event:
    return Event(owner_kind=owner[0], owner_key=owner[1], type=type_, product=slug, data={})


def audience(owner: tuple[str, str], type_: str, slug: str | None = None) -> set[str]:
    return set(kind_of(type_).audience(event(owner, type_, slug)))


OF_ORGANIZATIONS = (
    *("wallet.credited", "wallet.low", "wallet.empty", "budget.threshold"),
    *("invoice.issued", "invoice.paid", "invoice.past_due", "membership.created", "membership.removed"),
)


@pytest.mark.parametrize("type_", OF_ORGANIZATIONS)
def test_an_organizations_events_go_to_the_products_that_it_has_enabled(team: Team, type_: str) -> None:
    other = Team("oscar", name="Other")
    other.enable("courier")
    product("unused")
    acme = {"org_id": team.id, "product": "lapsed", "actor_did": team.owner.did}
    team.enable("lapsed")
    products.disable(**acme)
    assert audience(("organization", team.id), type_) == {"studio"}
    assert audience(("organization", other.id), type_) == {"courier"}
    assert audience(("organization", "org_none"), type_) == set()


@pytest.mark.parametrize("type_", ["seat.assigned", "seat.revoked", "usage.settled", "usage.released"])
def test_an_event_of_a_product_goes_to_that_product(team: Team, type_: str) -> None:
    team.enable("courier")
    assert audience(("organization", team.id), type_, "studio") == {"studio"}
    assert audience(("organization", team.id), type_) == set()


def integration(slug: str, prefix: str, *, enabled: bool = True) -> None:
    product(slug)
    Integration.objects.create(
        issuer=f"https://{slug}.example", product_id=slug, did_prefix=prefix, jwks={"keys": []}, enabled=enabled
    )


@pytest.mark.parametrize("type_", ["wallet.credited", "wallet.low", "wallet.empty", "device_session.revoked"])
def test_an_accounts_events_go_to_the_products_that_speak_for_it(type_: str) -> None:
    integration("studio", "did:web:studio.example")
    integration("suite", "did:web:studio.example:staff")
    integration("courier", "did:web:courier.example")
    integration("past", "did:web:past.example", enabled=False)
    assert audience(("account", "did:web:studio.example:bob"), type_) == {"studio"}
    assert audience(("account", "did:web:studio.example:staff:bob"), type_) == {"studio", "suite"}
    assert audience(("account", "did:web:courier.example:bob"), type_) == {"courier"}
    for stranger in ("did:web:studio.example.evil:bob", "did:web:studio.example", "did:web:past.example:bob", ""):
        assert audience(("account", stranger), type_) == set()


def test_a_persons_budget_and_an_organization_named_like_an_account_go_to_nobody() -> None:
    integration("studio", "did:web:studio.example")
    assert audience(("account", "did:web:studio.example:bob"), "budget.threshold") == set()
    assert audience(("organization", "did:web:studio.example:bob"), "wallet.low") == set()
