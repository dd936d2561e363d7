"""Products of an organization that an external provider bills."""

from datetime import datetime

from billing.models import ExternalMapping


def of(org_id: str, product: str) -> ExternalMapping | None:
    """Find the mapping of one product."""
    return ExternalMapping.objects.filter(org_id=org_id, product=product).first()


def products_of(org_id: str, *, before: datetime) -> set[str]:
    """Return the products whose mapping was confirmed before an instant: a month that ends later is not billed here."""
    rows = ExternalMapping.objects.filter(org_id=org_id, created_at__lt=before)
    return set(rows.values_list("product", flat=True))
