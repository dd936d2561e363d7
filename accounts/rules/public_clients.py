"""Public clients: a browser client is its origin, and only a registered client is anything else.

RFC 6749 section 3.1.2, RFC 8252 section 7.3 (loopback), RFC 9700 section 2.1 (exact redirect URIs). What is wrong here
ends on an error page and never redirects.
"""

import ipaddress
import re
from collections.abc import Collection

CLIENT_ID_MAX_CHARACTERS = 255
REDIRECT_URI_MAX_CHARACTERS = 2048

LOOPBACK_HOSTS = frozenset({"127.0.0.1", "[::1]", "localhost"})
_DEFAULT_PORTS = {"http": 80, "https": 443}

_PRINTABLE = re.compile(r"[\x21-\x7e]+")
_ORIGIN = re.compile(r"(?P<scheme>https?)://(?P<host>\[[0-9a-f:.]+\]|[a-z0-9.-]+)(?::(?P<port>[1-9][0-9]{0,4}))?")
_LABEL = re.compile(r"[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?")
_STRAY_PERCENT = re.compile(r"%(?![0-9A-Fa-f]{2})")


class ClientError(ValueError):
    """Refuses a client or its redirect URI; the text is for the person on the error page."""


def check_origin(client_id: str) -> str:
    """Return a browser client's id when it is an origin as browsers write it (RFC 6454), or raise ClientError.

    `https://host[:port]`, or `http://` on a loopback host; lower case, no default port, no path, no slash at the end.
    """
    if len(client_id) > CLIENT_ID_MAX_CHARACTERS or not _PRINTABLE.fullmatch(client_id):
        raise ClientError("The client's id is not an origin.")
    origin = _ORIGIN.fullmatch(client_id)
    if origin is None or not _is_host(origin["host"]) or not _is_port(origin["scheme"], origin["port"]):
        raise ClientError("The client's id is not an origin.")
    if origin["scheme"] == "http" and origin["host"] not in LOOPBACK_HOSTS:
        raise ClientError("The client's origin must be https, or http on a loopback address.")
    return client_id


def check_redirect(redirect_uri: str, origin: str) -> str:
    """Return a redirect URI of this very origin, without fragment, or raise ClientError."""
    _check_characters(redirect_uri)
    rest = redirect_uri.removeprefix(origin)
    if rest == redirect_uri or (rest and rest[0] not in "/?"):
        raise ClientError("The redirect URI is not on the client's origin.")
    return redirect_uri


def check_registered_redirect(redirect_uri: str, registered: Collection[str]) -> str:
    """Return a redirect URI that equals a registered one, character by character, or raise ClientError."""
    _check_characters(redirect_uri)
    if redirect_uri not in registered:
        raise ClientError("The redirect URI is not registered for this client.")
    return redirect_uri


def _check_characters(redirect_uri: str) -> None:
    if len(redirect_uri) > REDIRECT_URI_MAX_CHARACTERS or not _PRINTABLE.fullmatch(redirect_uri):
        raise ClientError("The redirect URI is not a URI of printable ASCII.")
    if "\\" in redirect_uri or "#" in redirect_uri or _STRAY_PERCENT.search(redirect_uri):
        raise ClientError("The redirect URI has a fragment or a character that it may not have.")


def _is_host(host: str) -> bool:
    if host.startswith("["):
        return _is_ipv6(host[1:-1])
    labels = host.split(".")
    if labels[-1].isdigit():
        return _is_ipv4(host)
    return len(host) <= 253 and all(_LABEL.fullmatch(label) for label in labels)


def _is_ipv4(host: str) -> bool:
    try:
        return str(ipaddress.IPv4Address(host)) == host
    except ValueError:
        return False


def _is_ipv6(host: str) -> bool:
    try:
        return str(ipaddress.IPv6Address(host)) == host
    except ValueError:
        return False


def _is_port(scheme: str, port: str | None) -> bool:
    return port is None or (int(port) <= 65535 and int(port) != _DEFAULT_PORTS[scheme])
