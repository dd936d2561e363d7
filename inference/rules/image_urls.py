"""Addresses of images that a request may name: data of its own, or a public https URL."""

import ipaddress
import re
from typing import Any
from urllib.parse import urlsplit

from gateway.core.contract.errors import ImageRejected, InvalidRequest

DATA_URLS = ("data:image/png;base64,", "data:image/jpeg;base64,", "data:image/webp;base64,", "data:image/gif;base64,")

_NOT_IN_A_URL = re.compile(r"[\x00-\x20\x7f\\]")  # clients repair these, each in its own way
_NAME = re.compile(r"[a-z0-9._-]+")
_NUMBER = re.compile(r"[0-9]+|0x[0-9a-f]*")


def check_image_url(url: Any, path: str) -> None:
    """Raise InvalidRequest or ImageRejected unless this is an image's address. `path` names the member."""
    if not isinstance(url, str):
        raise InvalidRequest("image_url needs a url.", param=path)
    if not url.startswith(DATA_URLS) and not _is_public_https(url):
        raise ImageRejected(
            "An image must be a public https URL or a base64 PNG, JPEG, WebP or GIF data URL.", param=path
        )


def _is_public_https(url: str) -> bool:
    """Return whether a URL looks public: https, no credentials, no address or name of a private network."""
    if _NOT_IN_A_URL.search(url):
        return False
    try:
        parts = urlsplit(url)
        host = parts.hostname or ""
    except ValueError:
        return False
    if parts.scheme != "https" or "@" in parts.netloc:
        return False
    try:
        return ipaddress.ip_address(host).is_global
    except ValueError:
        return _is_public_name(host.rstrip("."))


def _is_public_name(host: str) -> bool:
    """Return whether a host is a name with a dot in it, in ASCII, and no address in an old spelling.

    A last label that is a number, decimal or hexadecimal, makes an address of it to browsers and some resolvers
    (127.1, 0x7f.0.0.0x1; WHATWG URL, "ends in a number").
    """
    if "." not in host or not _NAME.fullmatch(host) or host.endswith((".local", ".internal")):
        return False
    return not _NUMBER.fullmatch(host.rpartition(".")[2])
