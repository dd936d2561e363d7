"""Validates addresses that an operator configures. RFC 3986, RFC 8252 section 7.

Browsers, proxies and libraries each repair unusual addresses differently, so only unambiguous addresses are accepted.
"""

import ipaddress
import re
from urllib.parse import SplitResult, urlsplit

# Schemes that make a browser run or read something instead of opening an app.
_ACTIVE_SCHEMES = frozenset(
    {"about", "blob", "data", "file", "filesystem", "ftp", "javascript", "vbscript", "ws", "wss"}
)
_PLAIN = re.compile(r"[\x21\x23-\x5b\x5d-\x7e]+")  # no space, no quote, no backslash
_HOST = re.compile(r"(?:[a-z0-9](?:[a-z0-9-]*[a-z0-9])?)(?:\.[a-z0-9](?:[a-z0-9-]*[a-z0-9])?)*\.?", re.IGNORECASE)

_ORIGIN = re.compile(r"(?P<scheme>https?)://(?P<host>\[[0-9a-f:.]+\]|[a-z0-9.-]+)(?::(?P<port>[1-9][0-9]{0,4}))?")
_LABEL = re.compile(r"[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?")
_DEFAULT_PORTS = {"http": 80, "https": 443}

LOOPBACK_ORIGIN_HOSTS = frozenset({"127.0.0.1", "[::1]", "localhost"})

WEB_WORDS = "must be an https:// address (http:// only on loopback), without user, query or fragment"
REDIRECT_WORDS = "must be an absolute address without user or fragment: https, http on loopback, or an app's scheme"


def is_web_address(value: str) -> bool:
    """Return whether text is an https URL, or an http one on loopback, of only scheme, host, port and path."""
    parts = _split(value)
    if parts is None or not _is_web(parts):
        return False
    return "@" not in parts.netloc and "?" not in value and "#" not in value


def is_origin(value: str) -> bool:
    """Return whether text is an origin in the browsers' form (RFC 6454): `https://host[:port]`, or http on loopback.

    That is lower case, without default port, path or trailing slash; IP addresses in canonical form.
    """
    origin = _ORIGIN.fullmatch(value)
    if origin is None or not _is_origin_host(origin["host"]) or not _is_origin_port(origin["scheme"], origin["port"]):
        return False
    return origin["scheme"] == "https" or origin["host"] in LOOPBACK_ORIGIN_HOSTS


def is_redirect_uri(value: str) -> bool:
    """Return whether text may be a redirect URI: https, http on loopback, or an app's own scheme."""
    parts = _split(value)
    if parts is None or "#" in value or "@" in parts.netloc:
        return False
    if parts.scheme in ("http", "https"):
        return _is_web(parts)
    return parts.scheme not in _ACTIVE_SCHEMES and len(value) > len(f"{parts.scheme}:")


def origin_of(uri: str) -> str:
    """Return scheme and authority of a validated address."""
    parts = urlsplit(uri)
    return f"{parts.scheme}://{parts.netloc}"


def _split(value: str) -> SplitResult | None:
    if not _PLAIN.fullmatch(value):
        return None
    try:
        parts = urlsplit(value)
        parts.port  # noqa: B018 - raises where the port is none
    except ValueError:
        return None
    is_canonical = value.startswith(f"{parts.scheme}:") and not parts.netloc.endswith(":")
    return parts if parts.scheme and is_canonical else None


def _is_origin_host(host: str) -> bool:
    if host.startswith("["):
        return _is_canonical(host[1:-1], 6)
    labels = host.split(".")
    if labels[-1].isdigit():
        return _is_canonical(host, 4)
    return len(host) <= 253 and all(map(_LABEL.fullmatch, labels))


def _is_origin_port(scheme: str, port: str | None) -> bool:
    return port is None or (int(port) <= 65535 and int(port) != _DEFAULT_PORTS[scheme])


def _is_canonical(host: str, version: int) -> bool:
    address = _address(host)
    return address is not None and address.version == version and str(address) == host


def _is_web(parts: SplitResult) -> bool:
    host = parts.hostname or ""
    if parts.scheme == "https":
        return _is_host(host)
    return parts.scheme == "http" and _is_loopback(host)


def _is_host(host: str) -> bool:
    return _address(host) is not None or (len(host) <= 253 and _HOST.fullmatch(host) is not None)


def _is_loopback(host: str) -> bool:
    address = _address(host)
    return address.is_loopback if address else host == "localhost"


def _address(host: str) -> ipaddress.IPv4Address | ipaddress.IPv6Address | None:
    try:
        return ipaddress.ip_address(host)
    except ValueError:
        return None
