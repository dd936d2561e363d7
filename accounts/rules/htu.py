"""Compares a proof's `htu` with the request's URI. RFC 9449 section 4.3, RFC 3986 section 6.2.

The request's URI is built from the configured base URL and the raw path, never from a header that the client controls.
Query and fragment are ignored.
"""

import re

from accounts.rules.bounded_cache import BoundedCache

URI_MAX_CHARACTERS = 8192
REMEMBERED_MAX_BYTES = 2 * 1024 * 1024

_known: BoundedCache[str, str] = BoundedCache(REMEMBERED_MAX_BYTES)

_PRINTABLE = re.compile(r"[\x21-\x7e]+")
_URI = re.compile(r"(?P<scheme>[A-Za-z]+)://(?P<authority>[^/?#]*)(?P<path>[^?#]*)(?:\?[^#]*)?(?:#.*)?")
_HOST = re.compile(r"(?P<name>[A-Za-z0-9._~!$&'()*+,;=-]+|\[[0-9A-Fa-f:.]+\])(?::(?P<port>[0-9]{0,5}))?")
_ESCAPE = re.compile(r"%([0-9A-Fa-f]{2})")
_STRAY_PERCENT = re.compile(r"%(?![0-9A-Fa-f]{2})")
_UNRESERVED = frozenset("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~")
_DEFAULT_PORTS = {"http": 80, "https": 443}


def target(base_url: str, raw_path: str) -> str:
    """Return the request's normalized URI, or raise ValueError if the path is not valid.

    `base_url` is the configured public URL without a trailing slash. `raw_path` is the path as received, not decoded.
    """
    return normalize(base_url + raw_path.partition("?")[0])


def matches(htu: object, expected: str) -> bool:
    """Return whether a proof's `htu` (a value of any type) equals the expected, normalized URI."""
    if not isinstance(htu, str):
        return False
    if htu == expected:
        return True
    try:
        return normalize(htu) == expected
    except ValueError:
        return False


def normalize(uri: str) -> str:
    """Normalize an http(s) URI (RFC 3986), without query and fragment. Raises ValueError."""
    known = _known.get(uri)
    if known is None:
        known = _normalize(uri)
        _known.put(uri, known, len(uri) + len(known))  # both are ASCII
    return known


def _normalize(uri: str) -> str:
    if len(uri) > URI_MAX_CHARACTERS or not _PRINTABLE.fullmatch(uri) or "\\" in uri:
        raise ValueError("not a URI of printable ASCII")
    parts = _URI.fullmatch(uri)
    if parts is None:
        raise ValueError("not an absolute URI")
    scheme = parts["scheme"].lower()
    if scheme not in _DEFAULT_PORTS:
        raise ValueError("neither http nor https")
    path = _remove_dot_segments(_normalize_escapes(parts["path"]))
    return f"{scheme}://{_normalize_authority(scheme, parts['authority'])}{path or '/'}"


def _normalize_authority(scheme: str, authority: str) -> str:
    """Lowercase the host and drop the scheme's default port (sections 3.2.2 and 6.2.3). User information is refused."""
    host = _HOST.fullmatch(authority)
    if host is None:
        raise ValueError("not a host")
    port = int(host["port"]) if host["port"] else _DEFAULT_PORTS[scheme]
    if not 0 < port <= 65535:
        raise ValueError("not a port")
    name = host["name"].lower()
    return name if port == _DEFAULT_PORTS[scheme] else f"{name}:{port}"


def _normalize_escapes(path: str) -> str:
    """Decode escaped unreserved characters; uppercase the hex digits of other escapes (section 6.2.2)."""
    if "%" not in path:
        return path
    if _STRAY_PERCENT.search(path):
        raise ValueError("an invalid percent escape")
    return _ESCAPE.sub(_normal_escape, path)


def _normal_escape(escape: re.Match[str]) -> str:
    character = chr(int(escape[1], 16))
    return character if character in _UNRESERVED else escape[0].upper()


def _remove_dot_segments(path: str) -> str:
    """Resolve `.` and `..` (section 5.2.4) in an absolute path."""
    if "/." not in path:
        return path
    resolved: list[str] = []
    segments = path.split("/")[1:]
    for segment in segments:
        if segment == "..":
            del resolved[-1:]
        elif segment != ".":
            resolved.append(segment)
    if segments[-1] in (".", ".."):
        resolved.append("")
    return "/" + "/".join(resolved)
