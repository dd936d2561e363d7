"""Checks on an identity provider's answers, except those about the person. OpenID Connect Core section 3.1.3.7,
Discovery section 3."""

import base64
import hashlib
from typing import Any
from urllib.parse import urlsplit

ENDPOINTS = ("authorization_endpoint", "token_endpoint", "userinfo_endpoint", "jwks_uri")


class OddAnswer(ValueError):
    """An answer that does not match the request, or leads elsewhere."""


def check_endpoints(description: Any, address: str) -> None:
    """Check where a provider's own description leads: to https, where it came by https. Raises OddAnswer."""
    if not isinstance(description, dict):
        raise OddAnswer("the provider's metadata is not an object")
    for name in ENDPOINTS:
        scheme = urlsplit(str(description.get(name, ""))).scheme
        if name in description and scheme != "https" and not (scheme == urlsplit(address).scheme == "http"):
            raise OddAnswer(f"{name} is not an https address")


def nonce_of(verifier: str) -> str:
    """Return the nonce that belongs to a PKCE verifier, which only the browser's own session knows."""
    digest = hashlib.sha256(b"nonce:" + verifier.encode()).digest()
    return base64.urlsafe_b64encode(digest).decode().rstrip("=")


def check_id_token(claims: dict[str, Any], *, client_id: str, nonce: str) -> None:
    """Check that a token is for us and for this very sign-in. Issuer, audience and time are checked before."""
    if claims.get("nonce") != nonce:
        raise OddAnswer("the ID token belongs to another sign-in")
    audience = claims.get("aud")
    is_for_many = isinstance(audience, list) and len(audience) > 1
    if claims.get("azp", None if is_for_many else client_id) != client_id:
        raise OddAnswer("the ID token was issued to another client")
