"""Queries for an organization's products."""

from django.db.models import Count, Q, QuerySet

from accounts.models import Product
from gateway.core.contract.errors import NotFound
from organizations.models import Entitlement

_ASSIGNED = Count("seats", filter=Q(seats__assigned_at__isnull=False))


def of(org_id: str, product: str) -> Entitlement | None:
    """Return an organization's entitlement to a product, or None if it never enabled it. Raises NotFound outside the
    catalogue.
    """
    found = with_counts().filter(organization_id=org_id, product_id=product).first()
    if found is None and not Product.objects.filter(slug=product).exists():
        raise NotFound
    return found


def with_counts() -> QuerySet[Entitlement]:
    """Return entitlements with their live seat counts as `assigned_seats`."""
    return Entitlement.objects.annotate(assigned_seats=_ASSIGNED).order_by("product_id")


def of_organizations(org_ids: list[str]) -> dict[str, list[Entitlement]]:
    """Return the products of several organizations, by organization, in one query."""
    grouped: dict[str, list[Entitlement]] = {org_id: [] for org_id in org_ids}
    for entitlement in with_counts().filter(organization_id__in=org_ids):
        grouped[entitlement.organization_id].append(entitlement)
    return grouped


def assigned_seats(entitlement: Entitlement) -> int:
    """Return the number of currently assigned seats."""
    return entitlement.seats.filter(assigned_at__isnull=False).count()
