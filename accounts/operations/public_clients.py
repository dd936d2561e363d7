"""Reads how the operator has set up public clients: registered, trusted or disabled. A browser client needs no row, nor
does a built-in one."""

from collections.abc import Collection

from accounts.models import PublicClient
from accounts.rules.public_clients import BUILT_IN_NAMES, ClientError
from gateway.core.contract.errors import InvalidClient


def redirects() -> dict[str, list[str]]:
    """Return the redirect URIs of each registered client that has any."""
    clients = PublicClient.objects.filter(enabled=True).exclude(redirect_uris=[])
    return dict(clients.values_list("client_id", "redirect_uris"))


def is_disabled(client_id: str) -> bool:
    """Return whether the operator has disabled a client."""
    return PublicClient.objects.filter(client_id=client_id, enabled=False).exists()


def check_enabled(client_id: str) -> None:
    """Raise InvalidClient if the operator has disabled a client; for the token routes."""
    if is_disabled(client_id):
        raise InvalidClient("This client is disabled.")


def check_usable(client_id: str) -> None:
    """Raise ClientError, which the error page shows, if the operator has disabled a client."""
    if is_disabled(client_id):
        raise ClientError("The operator of this service has disabled the app.")


def is_registered(client_id: str) -> bool:
    """Return whether a client is built in, or registered: its row exists and is enabled."""
    if client_id in BUILT_IN_NAMES:
        return not is_disabled(client_id)
    return PublicClient.objects.filter(client_id=client_id, enabled=True).exists()


def is_trusted(client_id: str) -> bool:
    """Return whether the operator has waived consent for a client's users. It is never waived for a built-in client,
    because any program of this computer can ask in its name (RFC 8252 section 8.6).
    """
    if client_id in BUILT_IN_NAMES:
        return False
    return PublicClient.objects.filter(client_id=client_id, enabled=True, trusted=True).exists()


def names_of(client_ids: Collection[str]) -> dict[str, str]:
    """Return the names of those clients that have one: built in, or given by the operator."""
    rows = PublicClient.objects.filter(client_id__in=client_ids).values_list("client_id", "name")
    return dict(rows) | {one: name for one, name in BUILT_IN_NAMES.items() if one in client_ids}


def registered_name(client_id: str) -> str:
    """Return the name of a client, or an empty string."""
    return names_of([client_id]).get(client_id, "")
