"""Converts between principals and the claims of access tokens. RFC 9068, RFC 9449 section 6."""

from typing import Any

from accounts.rules.principal import Principal

TOKEN_TYPE = "at+jwt"  # noqa: S105


def claims_of(principal: Principal, *, issuer: str, audience: str) -> dict[str, Any]:
    """Return the claims for a principal's token. Claims that do not apply are omitted."""
    claims: dict[str, Any] = {
        "iss": issuer,
        "aud": audience,
        "sub": principal.did,
        "client_id": principal.client_id,
        "scope": " ".join(sorted(principal.scopes)),
        "cnf": {"jkt": principal.jkt},
        "iat": principal.issued_at,
        "exp": principal.expires_at,
        "jti": principal.token_id,
        "product": principal.product,
        "org": principal.org_id,
        "mid": principal.membership_id,
        "sid": principal.session_id,
        "consents": sorted(principal.consents) or None,
    }
    return {name: value for name, value in claims.items() if value is not None}


def principal_of(claims: dict[str, Any], *, issuer: str, audience: str) -> Principal:
    """Return the principal of a token whose signature is verified. Raises ValueError if the token is not for this
    gateway.
    """
    if claims.get("iss") != issuer or claims.get("aud") != audience:
        raise ValueError("the token is for another service")
    try:
        return Principal(
            did=claims["sub"],
            client_id=claims["client_id"],
            scopes=frozenset(claims["scope"].split()),
            jkt=claims["cnf"]["jkt"],
            token_id=claims["jti"],
            product=claims.get("product"),
            org_id=claims.get("org"),
            membership_id=claims.get("mid"),
            session_id=claims.get("sid"),
            issued_at=claims["iat"],
            expires_at=claims["exp"],
            consents=frozenset(claims.get("consents", ())),
        )
    except (KeyError, TypeError, AttributeError) as error:
        raise ValueError("a claim is missing") from error
