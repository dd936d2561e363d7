"""Whom limits count: the network address that a request came from."""

import ipaddress

from django.http import HttpRequest

IPV6_NETWORK_BITS = 64  # what one subscriber is given; single addresses within it cost nothing


def plain_address(host: str | None) -> str:
    """Return an address in its one form, which is IPv4's for an IPv4 address in IPv6; an empty text where it is
    none."""
    try:
        address = ipaddress.ip_address((host or "").partition("%")[0])
    except ValueError:
        return ""
    return str(getattr(address, "ipv4_mapped", None) or address)


def client_network(request: HttpRequest) -> str | None:
    """Name a client's IPv4 address or IPv6 network, as the server tells it; None where there is none (a local
    socket)."""
    address = plain_address(request.META.get("REMOTE_ADDR"))
    if ":" not in address:
        return address or None
    return str(ipaddress.IPv6Network((address, IPV6_NETWORK_BITS), strict=False))
