"""Seats: idempotent, capped under concurrency, and never removed by a lower cap."""

import itertools
from functools import partial

import pytest
from django.db import IntegrityError, transaction
from django.utils import timezone

from gateway.core.contract.errors import BillingPastDue, Forbidden, NotFound, ProductDisabled, SeatCapReached
from organizations.models import Entitlement, EntitlementInterval, Organization, Seat, SeatInterval
from organizations.operations import products, seats
from organizations.rules.roles import Role
from tests.factories.organizations import Team, product
from tests.support.concurrency import at_once, count

pytestmark = pytest.mark.django_db


def assign(team: Team, name: str, slug: str = "studio", by: str = "olivia") -> Seat:
    return seats.assign(
        org_id=team.id, product=slug, membership_id=team[name].id, actor_did=team.people[by].account.did
    )


def revoke(team: Team, name: str, slug: str = "studio") -> Seat:
    return seats.revoke(org_id=team.id, product=slug, membership_id=team[name].id, actor_did=team.owner.did)


@pytest.fixture
def team() -> Team:
    made = Team()
    made.join("bob")
    made.join("carla")
    made.enable("studio")
    return made


def test_assign_is_idempotent(team: Team) -> None:
    first, second = assign(team, "bob"), assign(team, "bob")
    assert first.assigned_at == second.assigned_at
    assert first.version == second.version
    assert SeatInterval.objects.count() == 1


def test_revoke_is_idempotent(team: Team) -> None:
    assign(team, "bob")
    assert not revoke(team, "bob").is_assigned
    version = team.organization.version
    assert not revoke(team, "bob").is_assigned
    assert team.organization.version == version


def test_revoking_a_seat_that_never_existed_changes_nothing(team: Team) -> None:
    assert not revoke(team, "carla").is_assigned
    assert not Seat.objects.exists()


def test_a_seat_needs_an_enabled_product(team: Team) -> None:
    product("courier")
    with pytest.raises(ProductDisabled) as refused:
        assign(team, "bob", "courier")
    assert refused.value.status == 409
    with pytest.raises(NotFound):
        assign(team, "bob", "no-such-product")


def test_a_seat_needs_an_active_member(team: Team) -> None:
    other = Team("oscar", "Other")
    with pytest.raises(NotFound):
        seats.assign(org_id=team.id, product="studio", membership_id=other["oscar"].id, actor_did=team.owner.did)


def test_past_due_billing_refuses_only_new_seats(team: Team) -> None:
    assign(team, "bob")
    Organization.objects.filter(pk=team.id).update(is_past_due=True)
    with pytest.raises(BillingPastDue):
        assign(team, "carla")
    assert assign(team, "bob").is_assigned


def test_a_full_product_refuses_all_but_current_seats(team: Team) -> None:
    products.set_cap(org_id=team.id, product="studio", max_seats=1, actor_did=team.owner.did)
    assign(team, "bob")
    with pytest.raises(SeatCapReached):
        assign(team, "carla")
    assert assign(team, "bob").is_assigned


def test_lowering_a_cap_removes_no_seats(team: Team) -> None:
    assign(team, "bob")
    assign(team, "carla")
    lowered = products.set_cap(org_id=team.id, product="studio", max_seats=1, actor_did=team.owner.did)
    assert (lowered.max_seats, lowered.assigned_seats) == (1, 2)  # type: ignore[attr-defined]
    revoke(team, "bob")
    with pytest.raises(SeatCapReached):
        assign(team, "bob")


def test_clearing_a_cap_opens_the_product(team: Team) -> None:
    products.set_cap(org_id=team.id, product="studio", max_seats=0, actor_did=team.owner.did)
    with pytest.raises(SeatCapReached):
        assign(team, "bob")
    products.set_cap(org_id=team.id, product="studio", max_seats=None, actor_did=team.owner.did)
    assert assign(team, "bob").is_assigned


def test_disabling_revokes_and_enabling_starts_empty(team: Team) -> None:
    assign(team, "bob")
    disabled = products.disable(org_id=team.id, product="studio", actor_did=team.owner.did)
    assert (disabled.is_enabled, disabled.assigned_seats) == (False, 0)  # type: ignore[attr-defined]
    enabled = products.enable(org_id=team.id, product="studio", actor_did=team.owner.did)
    assert (enabled.is_enabled, enabled.assigned_seats) == (True, 0)  # type: ignore[attr-defined]
    assert EntitlementInterval.objects.count() == 2


def test_billing_assigns_no_seats(team: Team) -> None:
    team.join("bill", Role.BILLING)
    with pytest.raises(Forbidden):
        assign(team, "bob", by="bill")


def test_intervals_follow_each_other_without_gap_or_overlap(team: Team) -> None:
    for _ in range(5):
        assign(team, "bob")
        revoke(team, "bob")
    times = list(SeatInterval.objects.order_by("started_at").values_list("started_at", "ended_at"))
    assert len(times) == 5
    assert all(end and start < end for start, end in times)
    assert all(before[1] and before[1] < after[0] for before, after in itertools.pairwise(times))


def test_the_database_refuses_overlapping_intervals(team: Team) -> None:
    assign(team, "bob")
    seat = Seat.objects.get()
    entitlement = Entitlement.objects.get()
    with pytest.raises(IntegrityError), transaction.atomic():
        SeatInterval.objects.create(seat=seat, started_at=timezone.now())
    with pytest.raises(IntegrityError), transaction.atomic():
        EntitlementInterval.objects.create(entitlement=entitlement, started_at=timezone.now())


@pytest.mark.django_db(transaction=True)
def test_a_cap_holds_when_everybody_asks_at_once() -> None:
    team = Team()
    names = [f"person{number}" for number in range(12)]
    for name in names:
        team.join(name)
    team.enable("studio", cap=3)
    results = at_once(*[partial(assign, team, name) for name in names])
    assert count(results, "seat_cap_reached") == 9
    assert Seat.objects.filter(assigned_at__isnull=False).count() == 3


@pytest.mark.django_db(transaction=True)
def test_assigning_and_disabling_at_once_leave_no_seat_on_a_disabled_product() -> None:
    for _ in range(5):
        team = Team()
        team.join("bob")
        team.enable("studio")
        at_once(
            partial(assign, team, "bob"),
            partial(products.disable, org_id=team.id, product="studio", actor_did=team.owner.did),
        )
        assert not Seat.objects.filter(entitlement__organization_id=team.id, assigned_at__isnull=False).exists()
