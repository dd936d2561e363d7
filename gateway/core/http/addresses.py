"""Network addresses of clients, as rate limits count them."""

import ipaddress

from django.http import HttpRequest

IPV6_NETWORK_BITS = 64  # a subscriber's network; single addresses within it are free


def plain_address(host: str | None) -> str:
    """Return an IP address in canonical form, an IPv4-mapped IPv6 address as IPv4; empty text if it is none."""
    try:
        address = ipaddress.ip_address((host or "").partition("%")[0])
    except ValueError:
        return ""
    return str(getattr(address, "ipv4_mapped", None) or address)


def client_network(request: HttpRequest) -> str | None:
    """Return a client's IPv4 address or IPv6 network, as reported by the server; None if there is none (a local
    socket)."""
    address = plain_address(request.META.get("REMOTE_ADDR"))
    if ":" not in address:
        return address or None
    return str(ipaddress.IPv6Network((address, IPV6_NETWORK_BITS), strict=False))
