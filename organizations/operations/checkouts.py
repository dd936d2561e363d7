"""Starts payments into an organization's wallet."""

from accounts.models import Product
from billing.models import Checkout
from billing.operations import checkouts as billing
from gateway.core.contract.errors import NotFound
from organizations.operations.changes import changing
from organizations.rules.roles import MONEY_MANAGERS


def begin(
    *,
    org_id: str,
    kind: str,
    amount_microusd: int | None,
    product: str | None,
    idempotency_key: str,
    actor_did: str,
    saves_method: bool = False,
) -> Checkout:
    """Start a checkout and have the provider create its page. Repeating the request returns the same transaction.

    The provider is called after all locks are released. Raises NotFound for a product outside the catalogue, and the
    errors of `billing.operations.checkouts`.
    """
    with changing(org_id, actor_did=actor_did, roles=MONEY_MANAGERS) as change:
        if product is not None and not Product.objects.filter(slug=product).exists():
            raise NotFound(param="product")
        checkout, is_new = billing.begin(
            ("organization", org_id),
            kind=kind,
            amount_microusd=amount_microusd,
            product=product,
            idempotency_key=idempotency_key,
            requested_by=actor_did,
            saves_method=saves_method,
            now=change.now,
        )
        if is_new and amount_microusd is None:
            change.record("payment_method.begin", checkout.id)
        elif is_new:
            change.record("top_up.begin", checkout.id, amountMicrousd=amount_microusd, product=product)
    return billing.place(checkout, now=change.now)
