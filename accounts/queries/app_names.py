"""The names of apps, which are public clients and the servers of products."""

from collections.abc import Iterable

from accounts.models import Integration
from accounts.operations import public_clients


def of(client_ids: Iterable[str]) -> dict[str, str]:
    """Return what to call each app of these client ids: its own name, its product's server, or its origin's host."""
    ids = list(client_ids)
    servers = Integration.objects.filter(issuer__in=ids).values_list("issuer", "product__name")
    named = {issuer: f"{product} (server)" for issuer, product in servers} | public_clients.names_of(ids)
    return {one: named.get(one) or one.removeprefix("https://") for one in ids}
