"""Which products of an organization an outside provider bills."""

from datetime import datetime

from billing.models import ExternalMapping


def of(org_id: str, product: str) -> ExternalMapping | None:
    """Find the mapping of one product."""
    return ExternalMapping.objects.filter(org_id=org_id, product=product).first()


def products_of(org_id: str, *, before: datetime) -> set[str]:
    """Name the products whose billing elsewhere was confirmed before an instant: a month that ends then is not ours."""
    rows = ExternalMapping.objects.filter(org_id=org_id, created_at__lt=before)
    return set(rows.values_list("product", flat=True))
