"""Assigns and revokes seats. SPEC: States and transitions, Seat."""

from django.db.models import QuerySet

from gateway.core.contract.errors import BillingPastDue, ProductDisabled, SeatCapReached
from organizations.models import Entitlement, Membership, Seat, SeatInterval
from organizations.operations.changes import Change, changing
from organizations.queries import entitlements, memberships
from organizations.rules.roles import PEOPLE_MANAGERS


def assign(*, org_id: str, product: str, membership_id: str, actor_did: str) -> Seat:
    """Assign a member to an enabled product; repeating changes nothing.

    Raises NotFound if the organization has no such product or active membership, then ProductDisabled, BillingPastDue
    or SeatCapReached, in this order.
    """
    with changing(org_id, actor_did=actor_did, roles=PEOPLE_MANAGERS) as change:
        membership = memberships.active_in(org_id, membership_id)
        entitlement = entitlements.of(org_id, product)
        if entitlement is None or not entitlement.is_enabled:
            raise ProductDisabled
        seat = Seat.objects.filter(entitlement=entitlement, membership=membership).first()
        if seat is None or not seat.is_assigned:
            _check_cap(change, entitlement)
            seat = _take(change, seat or Seat(entitlement=entitlement, membership=membership, version=0))
    return _with_loaded(seat, entitlement, membership)


def revoke(*, org_id: str, product: str, membership_id: str, actor_did: str) -> Seat:
    """Revoke a seat. Repeating, or revoking a seat that never existed, changes nothing."""
    with changing(org_id, actor_did=actor_did, roles=PEOPLE_MANAGERS) as change:
        membership = memberships.in_organization(org_id, membership_id)
        entitlement = entitlements.of(org_id, product)
        if entitlement is None:
            return Seat(entitlement=Entitlement(product_id=product), membership=membership)
        held = Seat.objects.filter(entitlement=entitlement, membership=membership)
        revoke_all(change, held)
        seat = held.first() or Seat(entitlement=entitlement, membership=membership)
    return _with_loaded(seat, entitlement, membership)


def revoke_all(change: Change, held: QuerySet[Seat]) -> None:
    """Revoke all assigned seats of a query, within a change of their organization."""
    assigned = list(held.filter(assigned_at__isnull=False).select_related("entitlement"))
    for seat in assigned:
        change.record("seat.revoke", seat.membership_id, product=seat.entitlement.product_id)
        _announce(change, "seat.revoked", seat)
        seat.assigned_at = None
        seat.version += 1
    Seat.objects.bulk_update(assigned, ["assigned_at", "version"], batch_size=1000)
    SeatInterval.objects.filter(seat__in=assigned, ended_at__isnull=True).update(ended_at=change.now)


def _check_cap(change: Change, entitlement: Entitlement) -> None:
    if change.organization.is_past_due:
        raise BillingPastDue
    if entitlement.max_seats is not None and entitlements.assigned_seats(entitlement) >= entitlement.max_seats:
        raise SeatCapReached


def _take(change: Change, seat: Seat) -> Seat:
    seat.assigned_at = change.now
    seat.version += 1
    seat.save()
    SeatInterval.objects.create(seat=seat, started_at=change.now)
    change.record("seat.assign", seat.membership_id, product=seat.entitlement.product_id)
    _announce(change, "seat.assigned", seat)
    return seat


def _announce(change: Change, type_: str, seat: Seat) -> None:
    product = seat.entitlement.product_id
    change.announce(type_, {"product": product, "membershipId": seat.membership_id}, product=product)


def _with_loaded(seat: Seat, entitlement: Entitlement, membership: Membership) -> Seat:
    seat.entitlement, seat.membership = entitlement, membership
    return seat
