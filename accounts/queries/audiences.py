"""Finds the products whose servers are told about an account."""

from accounts.models import Integration
from accounts.rules import dids


def of_account(did: str) -> set[str]:
    """Return the products of the enabled integrations that speak for this DID."""
    rows = Integration.objects.filter(enabled=True).values_list("product__slug", "did_prefix")
    return {product for product, prefix in rows if dids.speaks_for(prefix, did)}
