"""Determines a client's address and scheme from trusted proxies only."""

from collections.abc import Sequence
from typing import Any

from gateway.core.http.addresses import plain_address
from gateway.core.http.server.uvicorn_internals import TrustedHosts, with_proxies


class Proxies(TrustedHosts):
    """The trusted networks. IPv4-mapped IPv6 addresses equal their IPv4 addresses."""

    def __contains__(self, host: str | None) -> bool:
        """Return whether a host is one of the proxies."""
        return super().__contains__(plain_address(host) or host)

    def get_trusted_client_address(self, x_forwarded_for: str) -> tuple[str, int]:
        """Return the client's address and port, or an empty address if the proxies name none.

        The request then keeps its peer's address: a value that is not an address could not be counted, so that no limit
        would apply.
        """
        host, port = super().get_trusted_client_address(x_forwarded_for)
        return plain_address(host), port


def trust_proxies(proxies: Sequence[str], application: Any) -> Any:
    """Wrap the application to honor `X-Forwarded-For` and `X-Forwarded-Proto` from these networks.

    Django, its pages and the sign-in limits then see the same client address. Without proxies, the headers are the
    client's own claims and are ignored.
    """
    return with_proxies(application, Proxies(list(proxies))) if proxies else application
