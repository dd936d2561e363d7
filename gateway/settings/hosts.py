"""The hosts that the gateway serves, and its trusted proxies. Problems are reported as sentences."""

from collections.abc import Sequence
from ipaddress import ip_network
from urllib.parse import urlsplit

from django.core.exceptions import ImproperlyConfigured

from gateway.settings.reading import Environment


def named_hosts(env: Environment, given: Sequence[str], **urls: str) -> list[str]:
    """Return the hosts of these public addresses, after those that `ALLOWED_HOSTS` names.

    Every problem is recorded.
    """
    if any(host.strip() in ("*", ".") for host in given):
        env.note(
            "ALLOWED_HOSTS must name hosts in production: * accepts any host that a client makes up. "
            "Leave it unset to accept the hosts of GATEWAY_BASE_URL and PORTAL_URL."
        )
    hosts = list(given)
    for name, url in urls.items():
        with env.noting():
            hosts.append(_host(name, url))
    return list(dict.fromkeys(hosts))


def trusted_networks(given: Sequence[str]) -> list[str]:
    """Return the networks of `TRUSTED_PROXIES` in canonical form: addresses, or networks such as 10.0.0.0/8."""
    return [_network(name.strip()) for name in given if name.strip()]


def origin(url: str) -> str:
    """Return the scheme, host and port of a URL."""
    parts = urlsplit(url)
    return f"{parts.scheme}://{parts.netloc}"


def _host(name: str, url: str) -> str:
    host = urlsplit(url).hostname
    if not url.startswith("https://") or not host:
        raise ImproperlyConfigured(f"Set {name} to the public https:// address.")
    return f"[{host}]" if ":" in host else host


def _network(name: str) -> str:
    try:
        network = ip_network(name, strict=False)
    except ValueError:
        raise ImproperlyConfigured(
            f"TRUSTED_PROXIES must list addresses or networks, such as 10.0.0.0/8; {name!r} is neither."
        ) from None
    if network.prefixlen == 0:
        raise ImproperlyConfigured(
            f"TRUSTED_PROXIES must not cover every address: {name!r} lets clients choose their own address."
        )
    return str(network)
