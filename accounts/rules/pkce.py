"""Proof Key for Code Exchange. RFC 7636; S256 is the only method. SPEC: Limits (43 to 128 characters)."""

import hashlib
import hmac
import re

from accounts.rules import jwt

METHOD = "S256"

_VERIFIER = re.compile(r"[A-Za-z0-9._~-]{43,128}")
_CHALLENGE = re.compile(r"[A-Za-z0-9_-]{42}[AEIMQUYcgkosw048]")  # canonical base64url of 32 bytes


def is_verifier(value: object) -> bool:
    """Return whether a value of unknown type is a code verifier (RFC 7636 section 4.1)."""
    return isinstance(value, str) and _VERIFIER.fullmatch(value) is not None


def is_challenge(value: object) -> bool:
    """Return whether a value of unknown type is an S256 code challenge, without padding."""
    return isinstance(value, str) and _CHALLENGE.fullmatch(value) is not None


def challenge_of(verifier: str) -> str:
    """Derive the S256 challenge of a verifier (RFC 7636 section 4.2)."""
    return jwt.encode(hashlib.sha256(verifier.encode("ascii")).digest())


def matches(verifier: str, challenge: str) -> bool:
    """Return whether a verifier matches a challenge, in constant time."""
    return hmac.compare_digest(challenge_of(verifier), challenge)
