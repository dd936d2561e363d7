"""Finds the products whose servers get an event of a wallet's owner."""

from accounts.queries import audiences
from gateway.core.events.models import Event, OwnerKind
from organizations.models import Entitlement


def of_organization(event: Event) -> set[str]:
    """Return the products that an organization has enabled; none for an event of an account."""
    if event.owner_kind != OwnerKind.ORGANIZATION:
        return set()
    enabled = Entitlement.objects.filter(organization_id=event.owner_key, is_enabled=True)
    return set(enabled.values_list("product__slug", flat=True))


def of_owner(event: Event) -> set[str]:
    """Return the products that an organization has enabled, or that speak for an account."""
    return audiences.of_account(event.owner_key) if event.owner_kind == OwnerKind.ACCOUNT else of_organization(event)
