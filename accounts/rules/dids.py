"""Decentralized identifiers: syntax, and the prefixes of integrations. W3C DID Core section 3.1."""

import re
from urllib.parse import urlsplit

from gateway.core.contract.addresses import is_web_address

DID_MAX_CHARACTERS = 512

_DID = re.compile(r"did:[a-z0-9]+:(?:[A-Za-z0-9._:-]|%[0-9A-Fa-f]{2})*(?:[A-Za-z0-9._-]|%[0-9A-Fa-f]{2})")
_PREFIX = re.compile(r"did:[a-z0-9]+:(?:[A-Za-z0-9._:-]|%[0-9A-Fa-f]{2})*")


def is_did(value: object) -> bool:
    """Return whether a value of unknown type is a DID (not a DID URL: no path, query or fragment)."""
    return isinstance(value, str) and len(value) <= DID_MAX_CHARACTERS and _DID.fullmatch(value) is not None


def is_party(value: str) -> bool:
    """Return whether text can be the issuer or audience of a JWT: a web address or a DID. Comparison is by exact
    text.
    """
    return is_web_address(value) or is_did(value)


def is_prefix(value: str) -> bool:
    """Return whether the text is a DID prefix with at least a complete method."""
    return len(value) <= DID_MAX_CHARACTERS and _PREFIX.fullmatch(value) is not None


def speaks_for(prefix: str, did: str) -> bool:
    """Return whether a DID is covered by a prefix, at a segment boundary.

    `did:web:studio.example` and `did:web:studio.example:` both cover `did:web:studio.example:alice`, and neither
    covers `did:web:studio.example.evil:alice`.
    """
    if not is_did(did) or not did.startswith(prefix) or did == prefix:
        return False
    return prefix.endswith(":") or did[len(prefix)] == ":"


def portal_did(portal_url: str, account_id: str) -> str:
    """Return a portal account's DID: a did:web under the portal's host, which serves its document."""
    host = urlsplit(portal_url).netloc.replace(":", "%3A")
    return f"did:web:{host}:accounts:{account_id}"
