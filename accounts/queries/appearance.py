"""Which product names the portal's look may carry."""

from accounts.models import AppearanceProduct, Product
from accounts.rules.appearance import DEFAULT_PRODUCT


def products() -> frozenset[str]:
    """List the operator's allowlist; where there is none, the service itself and the catalogue."""
    listed = frozenset(AppearanceProduct.objects.values_list("slug", flat=True))
    return listed or frozenset(Product.objects.values_list("slug", flat=True)) | {DEFAULT_PRODUCT}


def names() -> dict[str, str]:
    """Name the catalogue's products for people."""
    return dict(Product.objects.values_list("slug", "name"))
