"""Accepts only request heads that every parser interprets alike. A proxy in front could interpret an ambiguous one
differently."""

from collections.abc import Sequence

VERSIONS = ("1.0", "1.1")


def is_plain(method: bytes, version: str, headers: Sequence[tuple[bytes, bytes]]) -> bool:
    """Return whether a head names one host, one framing and no tunnel. RFC 9112 sections 2.3, 3.2 and 6.1.

    The parser has already refused contradictory headers. `chunked` is the only transfer coding supported here, and
    HTTP/1.0 has none.
    """
    names = [name for name, _ in headers]
    hosts = names.count(b"host")
    if version not in VERSIONS or method == b"CONNECT" or hosts > 1 or (hosts == 0 and version != "1.0"):
        return False
    if b"transfer-encoding" not in names:
        return True
    codings = [value.lower() for name, value in headers if name == b"transfer-encoding"]
    return version != "1.0" and codings == [b"chunked"]
