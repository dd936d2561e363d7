"""The addresses that events may be sent to."""

from urllib.parse import urlsplit

from gateway.core.outbound.public_addresses import is_public_https

URL_MAX_CHARACTERS = 500
LOOPBACK = "127.0.0.1"
URL_WORDS = "must be an https:// address of a public host, without user and fragment"


def is_endpoint_url(url: str, *, or_loopback: bool) -> bool:
    """Return whether a URL looks public, or is `http://127.0.0.1` where that is allowed. Does not resolve its name."""
    if len(url) > URL_MAX_CHARACTERS or not url.isascii() or "#" in url:
        return False
    return is_public_https(url) or (or_loopback and is_loopback_http(url))


def is_loopback_http(url: str) -> bool:
    """Return whether a URL is an `http` one on 127.0.0.1."""
    try:
        parts = urlsplit(url)
        port = parts.port
    except ValueError:
        return False
    is_loopback = parts.scheme == "http" and parts.hostname == LOOPBACK and "@" not in parts.netloc and port != 0
    return is_loopback and url.startswith("http://") and url.isprintable() and not {" ", "\\"} & set(url)
