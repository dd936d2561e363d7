"""Checks an identity provider's metadata and ID tokens. OpenID Connect Core section 3.1.3.7, Discovery section 3."""

import base64
import hashlib
from typing import Any
from urllib.parse import urlsplit

ENDPOINTS = ("authorization_endpoint", "token_endpoint", "userinfo_endpoint", "jwks_uri")


class InvalidAnswer(ValueError):
    """A response does not match the request, or names an endpoint that is not allowed."""


def check_endpoints(description: Any, address: str) -> None:
    """Check that a provider's endpoints use https; http is allowed if the metadata itself came by http. Raises
    InvalidAnswer.
    """
    if not isinstance(description, dict):
        raise InvalidAnswer("the provider's metadata is not an object")
    for name in ENDPOINTS:
        scheme = urlsplit(str(description.get(name, ""))).scheme
        if name in description and scheme != "https" and not (scheme == urlsplit(address).scheme == "http"):
            raise InvalidAnswer(f"{name} is not an https address")


def nonce_of(verifier: str) -> str:
    """Return the nonce derived from a PKCE code verifier, which only the browser's session knows."""
    digest = hashlib.sha256(b"nonce:" + verifier.encode()).digest()
    return base64.urlsafe_b64encode(digest).decode().rstrip("=")


def check_id_token(claims: dict[str, Any], *, client_id: str, nonce: str) -> None:
    """Check that an ID token is for this client and this sign-in. django-allauth has checked issuer, audience and
    times.
    """
    if claims.get("nonce") != nonce:
        raise InvalidAnswer("the ID token belongs to another sign-in")
    audience = claims.get("aud")
    is_for_many = isinstance(audience, list) and len(audience) > 1
    if claims.get("azp", None if is_for_many else client_id) != client_id:
        raise InvalidAnswer("the ID token was issued to another client")
