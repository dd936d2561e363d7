"""Hosts at which browsers create passkeys: names, not IP addresses (Web Authentication Level 3, section 5.1.3)."""

from ipaddress import ip_address
from urllib.parse import urlsplit


def can_have_passkeys(host: str) -> bool:
    """Return whether a host, with or without a port, is a name."""
    try:
        ip_address(urlsplit(f"//{host}").hostname or "")
    except ValueError:
        return True
    return False
