"""Compares and trims URLs, so that a token never leaves for another origin than the gateway's."""

from urllib.parse import urlsplit, urlunsplit

_DEFAULT_PORTS = {"http": 80, "https": 443}


def target_of(url: str) -> str:
    """Return the URL without query and fragment. RFC 9449 section 4.2: `htu`."""
    parts = urlsplit(url)
    return urlunsplit((parts.scheme, parts.netloc, parts.path or "/", "", ""))


def origin_of(url: str) -> tuple[str, str | None, int | None]:
    """Return scheme, host and port; a default port and a missing one are the same."""
    parts = urlsplit(url)
    return parts.scheme, parts.hostname, parts.port or _DEFAULT_PORTS.get(parts.scheme)
