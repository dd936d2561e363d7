"""The proof that whoever redeems a code is who asked for it. RFC 7636."""

import hashlib
import secrets

from account_gateway_client.keys import base64url

VERIFIER_BYTES = 48


def new_verifier() -> str:
    """Make a verifier of 64 characters."""
    return secrets.token_urlsafe(VERIFIER_BYTES)


def challenge_of(verifier: str) -> str:
    """Return the S256 challenge."""
    return base64url(hashlib.sha256(verifier.encode("ascii")).digest())
