"""Enables and disables products, and sets seat caps. SPEC: States and transitions, Product and Seat cap."""

from collections.abc import Callable

from organizations.models import Entitlement, EntitlementInterval, Seat
from organizations.operations import seats
from organizations.operations.changes import Change, changing
from organizations.queries import entitlements
from organizations.rules.roles import MONEY_MANAGERS


def enable(*, org_id: str, product: str, actor_did: str) -> Entitlement:
    """Enable a product of the catalogue; repeating changes nothing. Raises NotFound outside the catalogue."""

    def apply(change: Change, entitlement: Entitlement) -> None:
        if entitlement.is_enabled:
            return
        entitlement.is_enabled = True
        _save(entitlement)
        EntitlementInterval.objects.create(entitlement=entitlement, started_at=change.now)
        change.record("product.enable", product)

    return _change(org_id, product, actor_did, apply)


def disable(*, org_id: str, product: str, actor_did: str) -> Entitlement:
    """Disable a product and revoke its seats; repeating changes nothing."""

    def apply(change: Change, entitlement: Entitlement) -> None:
        if not entitlement.is_enabled:
            return
        entitlement.is_enabled = False
        _save(entitlement)
        entitlement.intervals.filter(ended_at__isnull=True).update(ended_at=change.now)
        change.record("product.disable", product)
        seats.revoke_all(change, Seat.objects.filter(entitlement=entitlement))

    return _change(org_id, product, actor_did, apply)


def set_cap(*, org_id: str, product: str, max_seats: int | None, actor_did: str) -> Entitlement:
    """Set or clear (None) the seat cap of an enabled or disabled product. Lowering it removes no assigned seats. Raises
    NotFound outside the catalogue.
    """

    def apply(change: Change, entitlement: Entitlement) -> None:
        if entitlement.max_seats == max_seats:
            return
        change.record("product.cap", product, before=entitlement.max_seats, after=max_seats)
        entitlement.max_seats = max_seats
        _save(entitlement)

    return _change(org_id, product, actor_did, apply)


def _change(org_id: str, product: str, actor_did: str, apply: Callable[[Change, Entitlement], None]) -> Entitlement:
    with changing(org_id, actor_did=actor_did, roles=MONEY_MANAGERS) as change:
        entitlement = entitlements.of(org_id, product)
        apply(change, entitlement or Entitlement(organization_id=org_id, product_id=product, version=0))
        return entitlements.of(org_id, product) or Entitlement(organization_id=org_id, product_id=product)


def _save(entitlement: Entitlement) -> None:
    entitlement.version += 1
    entitlement.save()
