"""Which products of an organization an outside provider bills."""

from billing.models import ExternalMapping


def of(org_id: str, product: str) -> ExternalMapping | None:
    """Find the mapping of one product."""
    return ExternalMapping.objects.filter(org_id=org_id, product=product).first()


def products_of(org_id: str) -> set[str]:
    """Name the products that are billed elsewhere."""
    return set(ExternalMapping.objects.filter(org_id=org_id).values_list("product", flat=True))
