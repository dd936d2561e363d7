"""Learns a client's address and scheme from the proxies in front, and from no one else."""

from collections.abc import Sequence
from typing import Any

from uvicorn.middleware.proxy_headers import ProxyHeadersMiddleware, _TrustedHosts

from gateway.core.api.addresses import plain_address


class Proxies(_TrustedHosts):
    """The networks whose word counts. IPv4 addresses in IPv6 form are the same addresses."""

    def __contains__(self, host: str | None) -> bool:
        """Return whether a host is one of the proxies."""
        return super().__contains__(plain_address(host) or host)

    def get_trusted_client_address(self, x_forwarded_for: str) -> tuple[str, int]:
        """Return the client's address and port, or an empty address where the proxies name none.

        The request then keeps its peer's address: anything that is not an address could not be counted, so no limit
        would apply.
        """
        host, port = super().get_trusted_client_address(x_forwarded_for)
        return plain_address(host), port


def behind(proxies: Sequence[str], application: Any) -> Any:
    """Return the application as it is seen through these networks' proxies (`X-Forwarded-For`, `X-Forwarded-Proto`).

    Everything behind it, Django, its pages and the sign-in limits, sees one client address. Without proxies the headers
    are a client's own words and are left alone.
    """
    if not proxies:
        return application
    seen = ProxyHeadersMiddleware(application)
    seen.trusted_hosts = Proxies(list(proxies))
    return seen
