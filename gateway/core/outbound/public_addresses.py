"""Decides which addresses are public, so that an untrusted party may make the gateway connect to them."""

import ipaddress
import re
from urllib.parse import urlsplit

_NOT_IN_A_URL = re.compile(r"[\x00-\x20\x7f\\]")  # HTTP clients correct these, each in a different way
_NAME = re.compile(r"[a-z0-9._-]+")
_NUMBER = re.compile(r"[0-9]+|0x[0-9a-f]*")
_PRIVATE_ENDINGS = (".local", ".internal", ".localhost")

_IPV6_UNICAST = ipaddress.IPv6Network("2000::/3")
_IPV6_DOCUMENTATION = ipaddress.IPv6Network("3fff::/20")
_NAT64 = ipaddress.IPv6Network("64:ff9b::/96")


def is_public(text: str) -> bool:
    """Return whether an IP address, in a resolver's notation, belongs to the public internet.

    An IPv6 address that embeds an IPv4 address (mapped, or with the well-known NAT64 prefix of RFC 6052) is public if the
    embedded one is. 6to4 and Teredo addresses are not public.
    """
    try:
        address = ipaddress.ip_address(text)
    except ValueError:
        return False
    if isinstance(address, ipaddress.IPv6Address):
        within = _ipv4_within(address)
        return _is_public_ipv6(address) if within is None else is_public(str(within))
    return address.is_global and not address.is_multicast


def is_public_https(url: str) -> bool:
    """Return whether a URL looks public: https, no credentials, no address or name of a private network.

    Does not resolve its name.
    """
    if _NOT_IN_A_URL.search(url):
        return False
    try:
        parts = urlsplit(url)
        host, port = parts.hostname or "", parts.port
    except ValueError:
        return False
    if parts.scheme != "https" or "@" in parts.netloc or port == 0:
        return False
    return is_public(host) or _is_public_name(host.rstrip("."))


def _is_public_ipv6(address: ipaddress.IPv6Address) -> bool:
    is_tunnel = address.sixtofour is not None or address.teredo is not None
    is_unicast = address in _IPV6_UNICAST and address not in _IPV6_DOCUMENTATION
    return is_unicast and address.is_global and not is_tunnel and address.scope_id is None


def _ipv4_within(address: ipaddress.IPv6Address) -> ipaddress.IPv4Address | None:
    if address in _NAT64:
        return ipaddress.IPv4Address(int(address) & 0xFFFFFFFF)
    return address.ipv4_mapped


def _is_public_name(host: str) -> bool:
    """Return whether a host is an ASCII name with a dot, and not an IPv4 address in a legacy notation.

    Browsers and some resolvers parse a host as an address if its last label is a decimal or hexadecimal number (127.1,
    0x7f.0.0.0x1; WHATWG URL, "ends in a number").
    """
    if "." not in host or not _NAME.fullmatch(host) or host.endswith(_PRIVATE_ENDINGS):
        return False
    return not _NUMBER.fullmatch(host.rpartition(".")[2])
