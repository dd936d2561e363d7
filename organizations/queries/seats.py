"""Queries for seats."""

from django.db.models import QuerySet

from organizations.models import Membership, Seat
from organizations.rules.roles import SEES_ALL_SEATS


def visible_to(membership: Membership, product: str | None) -> QuerySet[Seat]:
    """Return the assigned seats that a member may see: owner, admin and billing see all, a member only their own."""
    seats = Seat.objects.select_related("entitlement").filter(
        entitlement__organization_id=membership.organization_id, assigned_at__isnull=False
    )
    if membership.role not in SEES_ALL_SEATS:
        seats = seats.filter(membership=membership)
    if product is not None:
        seats = seats.filter(entitlement__product_id=product)
    return seats.order_by("-assigned_at", "-id")
