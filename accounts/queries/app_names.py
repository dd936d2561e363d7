"""The names of apps, which are public clients and the servers of products."""

from collections.abc import Iterable

from accounts.models import Integration, PublicClient


def registered(client_ids: Iterable[str]) -> dict[str, str]:
    """Return the names that the operator gave clients, by client id; ids without one are left out."""
    return dict(PublicClient.objects.filter(client_id__in=client_ids).values_list("client_id", "name"))


def of(client_ids: Iterable[str]) -> dict[str, str]:
    """Return what to call each app of these client ids: its registered name, its product's server, or its origin's host."""
    ids = list(client_ids)
    servers = Integration.objects.filter(issuer__in=ids).values_list("issuer", "product__name")
    named = {issuer: f"{product} (server)" for issuer, product in servers} | registered(ids)
    return {one: named.get(one) or one.removeprefix("https://") for one in ids}
