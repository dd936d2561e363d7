"""Checks proofs and assertions with PyJWT, which shares no code with the client."""

import base64
import hashlib
import json
from collections.abc import Mapping
from typing import Any

import jwt


class Refused(Exception):
    """The proof or assertion is not good; the text says why."""


def thumbprint(jwk: Mapping[str, str]) -> str:
    """Return the RFC 7638 thumbprint of an EC key."""
    members = {name: jwk[name] for name in ("crv", "kty", "x", "y")}
    return _base64url(hashlib.sha256(json.dumps(members, separators=(",", ":")).encode()).digest())


def verify_proof(proof: str, *, method: str, target: str, token: str, seen: set[str]) -> dict[str, Any]:
    """Return the claims of a proof for this request and token, with `jkt`; each is good once."""
    header = jwt.get_unverified_header(proof)
    if header["typ"] != "dpop+jwt" or header["alg"] != "ES256" or set(header["jwk"]) != {"kty", "crv", "x", "y"}:
        raise Refused("header")
    key = jwt.PyJWK(header["jwk"])
    claims: dict[str, Any] = jwt.decode(proof, key, algorithms=["ES256"], options={"require": ["iat", "jti"]})
    if (claims["htm"], claims["htu"]) != (method, target):
        raise Refused(f"made for {claims['htm']} {claims['htu']}, not {method} {target}")
    if claims["ath"] != _base64url(hashlib.sha256(token.encode()).digest()):
        raise Refused("ath")
    if claims["jti"] in seen:
        raise Refused("replayed")
    seen.add(claims["jti"])
    return {**claims, "jkt": thumbprint(header["jwk"])}


def verify_assertion(assertion: str, jwks: Mapping[str, Any], audience: str) -> dict[str, Any]:
    """Return the claims of a product's assertion."""
    kid = jwt.get_unverified_header(assertion)["kid"]
    jwk = next(key for key in jwks["keys"] if key["kid"] == kid)
    claims: dict[str, Any] = jwt.decode(
        assertion, jwt.PyJWK(jwk), algorithms=["ES256"], audience=audience, options={"require": ["jti"]}
    )
    if claims["exp"] - claims["iat"] > 60:
        raise Refused("lives too long")
    return claims


def _base64url(data: bytes) -> str:
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()
