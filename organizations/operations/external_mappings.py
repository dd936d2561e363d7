"""Lets a partner bill a product's seats."""

from accounts.models import Product
from billing.models import ExternalMapping
from billing.operations import external_mappings as billing
from gateway.core.contract.errors import NotFound
from organizations.operations.changes import changing
from organizations.rules.roles import OWNERS


def put(
    *, org_id: str, product: str, provider: str, external_org_id: str, mode: str, actor_did: str
) -> ExternalMapping:
    """Verify the account at the provider, then replace the stored mapping. Repeating verifies again.

    The provider is called before anything is locked. Raises NotFound for a product outside the catalogue, and the
    errors of `billing.operations.external_mappings`; an earlier mapping then remains.
    """
    request = {"org_id": org_id, "product": product, "external_org_id": external_org_id, "mode": mode}
    verified = billing.verify(**request, provider=provider)
    with changing(org_id, actor_did=actor_did, roles=OWNERS) as change:
        if not Product.objects.filter(slug=product).exists():
            raise NotFound(param="product")
        mapping, is_new = billing.put(verified, verified_by=actor_did, now=change.now)
        if is_new:
            change.record("external_mapping.set", product, externalOrgId=external_org_id, mode=mode)
    return mapping
