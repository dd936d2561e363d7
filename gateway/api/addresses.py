"""Whom limits count: the network address that a request came from."""

import ipaddress

from django.http import HttpRequest

IPV6_NETWORK_BITS = 64  # what one subscriber is given; single addresses within it cost nothing


def client_network(request: HttpRequest) -> str | None:
    """Name a client's IPv4 address or IPv6 network, as the server tells it; None where there is none (a local socket)."""
    try:
        address = ipaddress.ip_address(request.META.get("REMOTE_ADDR", ""))
    except ValueError:
        return None
    if isinstance(address, ipaddress.IPv4Address):
        return str(address)
    if address.ipv4_mapped:
        return str(address.ipv4_mapped)
    return str(ipaddress.IPv6Network((int(address), IPV6_NETWORK_BITS), strict=False))
