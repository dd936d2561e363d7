"""Queries for the product names that the portal's appearance may use."""

from accounts.models import AppearanceProduct, Product
from accounts.rules.appearance import DEFAULT_PRODUCT


def products() -> frozenset[str]:
    """Return the operator's allowlist or, if it is empty, the service itself and all products."""
    listed = frozenset(AppearanceProduct.objects.values_list("slug", flat=True))
    return listed or frozenset(Product.objects.values_list("slug", flat=True)) | {DEFAULT_PRODUCT}


def names() -> dict[str, str]:
    """Return the products' display names."""
    return dict(Product.objects.values_list("slug", "name"))
