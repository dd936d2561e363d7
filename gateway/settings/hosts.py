"""Which hosts the gateway answers for. Raises ImproperlyConfigured in words."""

from collections.abc import Sequence
from urllib.parse import urlsplit

from django.core.exceptions import ImproperlyConfigured


def named_hosts(given: Sequence[str], **urls: str) -> list[str]:
    """Return the hosts of these public addresses, after the ones that `ALLOWED_HOSTS` names besides."""
    if any(host.strip() in ("*", ".") for host in given):
        raise ImproperlyConfigured(
            "ALLOWED_HOSTS must name hosts in production: * answers for a host that a stranger made up. "
            "Leave it out to answer for the hosts of GATEWAY_BASE_URL and PORTAL_URL."
        )
    return list(dict.fromkeys([*given, *(_host(name, url) for name, url in urls.items())]))


def _host(name: str, url: str) -> str:
    host = urlsplit(url).hostname
    if not url.startswith("https://") or not host:
        raise ImproperlyConfigured(f"Set {name} to the public https:// address.")
    return f"[{host}]" if ":" in host else host
