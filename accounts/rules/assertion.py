"""Checks product assertions against their integration's configuration.

SPEC: Trusted server exchange. Modelled on the JWT grant of RFC 7523. The client sees the same `invalid_grant` for every
refusal; the reason is only logged.
"""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from jwt import PyJWS, PyJWTError
from jwt.algorithms import OKPAlgorithm

from accounts.rules import dids, jwk, jwt, scopes
from gateway.core.contract.limits import ASSERTION_MAX_SECONDS

JWT_BEARER = "urn:ietf:params:oauth:grant-type:jwt-bearer"
ASSERTION_MAX_BYTES = 16_384
TEXT_MAX_CHARACTERS = 255
LIST_MAX_ITEMS = 256
CLOCK_AHEAD_SECONDS = 15  # how far the product server's clock may be ahead
LATEST_DATE = 2**40  # later dates do not fit a timestamp

# PyJWT verifies what is not on the path of every call. It does not know EdDSA's newer name (RFC 9864) yet.
_VERIFIER = PyJWS(algorithms=jwt.ALGORITHMS)
_VERIFIER.register_algorithm("Ed25519", OKPAlgorithm())

# Tokens of other types are never accepted as assertions (RFC 8725 section 3.12).
_OTHER_TYPES = frozenset({"at+jwt", "application/at+jwt", "dpop+jwt", "application/dpop+jwt"})


class AssertionRefused(ValueError):
    """An assertion is refused. The text is the reason for the log, `cause` the name of the check that failed."""

    def __init__(self, reason: str, cause: str = "format") -> None:
        super().__init__(reason)
        self.cause = cause


@dataclass(frozen=True, slots=True)
class Issuer:
    """The configured values of an integration. `keys` are public JWKs; it can grant only `capabilities`."""

    name: str
    audience: str
    product: str
    did_prefix: str
    capabilities: tuple[str, ...]
    keys: tuple[dict[str, Any], ...]


@dataclass(frozen=True, slots=True)
class Assertion:
    """A verified assertion. `capabilities` are within the integration's, `excess` lists those beyond. `jkt` is the
    thumbprint of the key that it is bound to, or None.

    `expires_at` is Unix time, rounded up to a second.
    """

    issuer: str
    did: str
    product: str
    capabilities: tuple[str, ...]
    excess: tuple[str, ...]
    consents: tuple[str, ...]
    jti: str
    jkt: str | None
    expires_at: int


def parse(token: object) -> tuple[jwt.Jws, str]:
    """Return an assertion's claimed issuer, without verification. Raises AssertionRefused."""
    if not isinstance(token, str):
        raise AssertionRefused("not text")
    try:
        jws = jwt.parse(token, ASSERTION_MAX_BYTES)
    except jwt.JwtError as error:
        raise AssertionRefused(str(error)) from None
    return jws, _text(jws.claims, "iss")


def check(jws: jwt.Jws, issuer: Issuer, now: float) -> Assertion:
    """Verify this integration's assertion at Unix time `now`. Raises AssertionRefused."""
    for cause in CHECKS:
        run(cause, jws, issuer, now)
    claims = jws.claims
    named = _capabilities(claims)
    return Assertion(
        issuer=issuer.name,
        did=str(claims["sub"]),
        product=issuer.product,
        capabilities=tuple(scopes.within(named, issuer.capabilities)),
        excess=tuple(scopes.missing(named, issuer.capabilities)),
        consents=tuple(_texts(claims, "consents")) if "consents" in claims else (),
        jti=_text(claims, "jti"),
        jkt=_bound_key(claims),
        expires_at=math.ceil(claims["exp"]),
    )


def run(cause: str, jws: jwt.Jws, issuer: Issuer, now: float) -> None:
    """Run one of CHECKS alone. Raises AssertionRefused with its cause."""
    try:
        CHECKS[cause](jws, issuer, now)
    except AssertionRefused as refused:
        refused.cause = cause
        raise


def _check_type(header: Mapping[str, Any]) -> None:
    typ = header.get("typ", "JWT")
    if not isinstance(typ, str) or typ.lower() in _OTHER_TYPES:
        raise AssertionRefused("typ is that of another kind of token")


def _check_signature(jws: jwt.Jws, issuer: Issuer) -> None:
    """Verify the signature with a key of exactly the header's algorithm, after the strict parser has read the token."""
    try:
        key = jwk.parse(select_key(jws.header, issuer.keys))
        _VERIFIER.decode(jws.compact(), key.key, algorithms=jwk.ALG_NAMES[key.alg])
    except (PyJWTError, jwk.JwkError) as error:
        raise AssertionRefused(f"the signature does not verify: {error}") from None


def select_key(header: Mapping[str, Any], keys: tuple[dict[str, Any], ...]) -> dict[str, Any]:
    """Find the key by `kid`. A single key needs no `kid`, and a key without one matches any."""
    kid = header.get("kid")
    if len(keys) == 1 and (kid is None or "kid" not in keys[0]):
        return keys[0]
    for key in keys:
        if kid is not None and key.get("kid") == kid:
            return key
    raise AssertionRefused("no key of the integration has this kid")


def _check_issuer(claims: dict[str, Any], issuer: Issuer) -> None:
    if claims.get("iss") != issuer.name:
        raise AssertionRefused("iss is not the integration's issuer")


def _check_audience(claims: dict[str, Any], issuer: Issuer) -> None:
    if claims.get("aud") not in (issuer.audience, [issuer.audience]):
        raise AssertionRefused(f"aud is not the integration's audience, {issuer.audience}")


def _check_product(claims: dict[str, Any], issuer: Issuer) -> None:
    if claims.get("product") != issuer.product:
        raise AssertionRefused("product is not the integration's product")


def _check_lifetime(claims: dict[str, Any]) -> None:
    issued_at, expires_at = _date(claims, "iat"), _date(claims, "exp")
    if not 0 < expires_at - issued_at <= ASSERTION_MAX_SECONDS:
        raise AssertionRefused(f"exp is not within {ASSERTION_MAX_SECONDS} s of iat")


def _check_expiry(claims: dict[str, Any], now: float) -> None:
    if _date(claims, "exp") <= now:
        raise AssertionRefused("expired")


def _check_issued(claims: dict[str, Any], now: float) -> None:
    if _date(claims, "iat") - now > CLOCK_AHEAD_SECONDS:
        raise AssertionRefused("iat is in the future")


def _check_start(claims: dict[str, Any], now: float) -> None:
    if "nbf" in claims and _date(claims, "nbf") - now > CLOCK_AHEAD_SECONDS:
        raise AssertionRefused("not valid yet")


def _check_subject(claims: dict[str, Any], issuer: Issuer) -> None:
    did = claims.get("sub")
    if not isinstance(did, str) or not dids.speaks_for(issuer.did_prefix, did):
        raise AssertionRefused("sub is not a DID that the integration may speak for")


def _capabilities(claims: dict[str, Any]) -> list[str]:
    names = _texts(claims, "capabilities")
    if not all(scopes.is_scope(name) for name in names):
        raise AssertionRefused("capabilities are not scopes")
    return names


def _bound_key(claims: dict[str, Any]) -> str | None:
    """Read `cnf.jkt` (RFC 7800, RFC 9449 section 6.1). An unsupported confirmation method is refused, not ignored."""
    if "cnf" not in claims:
        return None
    confirmation = claims["cnf"]
    if not isinstance(confirmation, dict) or set(confirmation) != {"jkt"}:
        raise AssertionRefused("cnf is not a key thumbprint")
    return _text(confirmation, "jkt")


def _text(claims: dict[str, Any], name: str) -> str:
    value = claims.get(name)
    if not isinstance(value, str) or not 1 <= len(value) <= TEXT_MAX_CHARACTERS or "\0" in value:
        raise AssertionRefused(f"{name} is not text of 1 to {TEXT_MAX_CHARACTERS} characters")
    return value


def _texts(claims: dict[str, Any], name: str) -> list[str]:
    values = claims.get(name)
    if not isinstance(values, list) or len(values) > LIST_MAX_ITEMS:
        raise AssertionRefused(f"{name} is not an array")
    if not all(isinstance(value, str) and len(value) <= TEXT_MAX_CHARACTERS for value in values):
        raise AssertionRefused(f"{name} is not an array of strings")
    return values


def _date(claims: dict[str, Any], name: str) -> float:
    value = claims.get(name)
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value < LATEST_DATE:
        raise AssertionRefused(f"{name} is not a date")
    return value


CHECKS: dict[str, Callable[[jwt.Jws, Issuer, float], object]] = {
    "type": lambda jws, issuer, now: _check_type(jws.header),
    "signature": lambda jws, issuer, now: _check_signature(jws, issuer),
    "issuer": lambda jws, issuer, now: _check_issuer(jws.claims, issuer),
    "audience": lambda jws, issuer, now: _check_audience(jws.claims, issuer),
    "product": lambda jws, issuer, now: _check_product(jws.claims, issuer),
    "lifetime": lambda jws, issuer, now: _check_lifetime(jws.claims),
    "expired": lambda jws, issuer, now: _check_expiry(jws.claims, now),
    "issued": lambda jws, issuer, now: _check_issued(jws.claims, now),
    "start": lambda jws, issuer, now: _check_start(jws.claims, now),
    "capabilities": lambda jws, issuer, now: _capabilities(jws.claims),
    "subject": lambda jws, issuer, now: _check_subject(jws.claims, issuer),
    "consents": lambda jws, issuer, now: "consents" in jws.claims and _texts(jws.claims, "consents"),
    "jti": lambda jws, issuer, now: _text(jws.claims, "jti"),
    "bound_key": lambda jws, issuer, now: _bound_key(jws.claims),
}
"""What is checked, in order. Each name is the cause of a refusal."""
