"""DPoP proofs, checked in the order of RFC 9449 section 4.3.

`read_proof` checks everything that needs only the proof. The binding to an access token (`check_access_token_hash`) is
checked after the token is verified. The `jti` is recorded last, so that a refused proof is never recorded.
"""

import hashlib
import math
from collections.abc import Callable, Mapping
from typing import Any

from accounts.rules import htu, jwk, jwt
from gateway.core.contract.errors import InvalidDpopProof
from gateway.core.contract.limits import PROOF_JTI_MAX_CHARACTERS, PROOF_MAX_AGE_SECONDS, PROOF_MAX_AHEAD_SECONDS
from gateway.core.contract.values import value_class

PROOF_MAX_BYTES = 8192
PROOF_TYPE = "dpop+jwt"
LATEST_DATE = 2**53  # larger numbers are not exact in every JSON reader


@value_class(frozen=True, slots=True)
class ProofTicket:
    """The record that prevents a proof's reuse. `digest` is 32 bytes, over the proof key and the `jti`.

    Times are Unix seconds. From `expires_at`, every machine refuses the proof by its `iat`, clock skew included.
    """

    digest: bytes
    issued_at: int
    expires_at: int


@value_class(frozen=True, slots=True)
class Proof:
    """A proof with a valid signature and valid claims. `ath` is the claim as sent, or None."""

    key: jwk.PublicKey
    claims: dict[str, Any]
    ticket: ProofTicket


def read_proof(
    proof: str,
    *,
    method: str,
    target: str,
    now: float,
    require_exp: bool = False,
    check_nonce: Callable[[object], None] | None = None,
) -> Proof:
    """Check a proof for a request, or raise InvalidDpopProof. `target` is the request's normalized URI (`htu`).

    `now` is Unix time in seconds. `check_nonce` raises the caller's error for a wrong or missing nonce.
    """
    try:
        jws = jwt.parse(proof, PROOF_MAX_BYTES)
        key = _proof_key(jws.header)
        jwt.verify(jws, key)
    except ValueError as error:
        raise _refused(str(error)) from None
    _check_target(jws.claims, method, target)
    issued_at = _check_times(jws.claims, now, require_exp)
    if check_nonce:
        check_nonce(jws.claims.get("nonce"))
    if not isinstance(jws.claims.get("nonce", ""), str):
        raise _refused("nonce is not a string")
    return Proof(key, jws.claims, _ticket(key.thumbprint, _jti(jws.claims), issued_at))


def check_access_token_hash(proof: Proof, expected: str | None) -> None:
    """Check that the proof is for this access token or, with None, that it has no `ath`.

    `expected` is base64url SHA-256 of the token. A proof of one kind is never accepted for the other. Raises
    InvalidDpopProof.
    """
    if proof.claims.get("ath") != expected or ("ath" in proof.claims) != (expected is not None):
        raise _refused("ath does not match the access token" if expected else "ath belongs to an access token")


def _proof_key(header: Mapping[str, Any]) -> jwk.PublicKey:
    if header.get("typ") != PROOF_TYPE:
        raise jwt.JwtError("typ is not dpop+jwt")
    if "jwk" not in header:
        raise jwt.JwtError("jwk is missing")
    try:
        return jwk.parse(header["jwk"])
    except jwk.JwkError as error:
        raise jwt.JwtError(f"jwk: {error}") from None


def _check_target(claims: dict[str, Any], method: str, target: str) -> None:
    if claims.get("htm") != method:
        raise _refused("htm does not match the request's method")
    if not htu.matches(claims.get("htu"), target):
        raise _refused("htu does not match the request's URL")


def _check_times(claims: dict[str, Any], now: float, require_exp: bool) -> float:
    """Return `iat`. An `exp` or `nbf` can only shorten a proof's validity."""
    issued_at = _date(claims, "iat")
    if now - issued_at > PROOF_MAX_AGE_SECONDS:
        raise _refused("iat is too old")
    if issued_at - now > PROOF_MAX_AHEAD_SECONDS:
        raise _refused("iat is in the future")
    if (require_exp or "exp" in claims) and _date(claims, "exp") <= now:
        raise _refused("exp is past")
    if "nbf" in claims and _date(claims, "nbf") - now > PROOF_MAX_AHEAD_SECONDS:
        raise _refused("nbf is in the future")
    return issued_at


def _date(claims: dict[str, Any], name: str) -> float:
    """Read a NumericDate (RFC 7519 section 2), which may have a fraction. A bool is refused."""
    value = claims.get(name)
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value < LATEST_DATE:
        raise _refused(f"{name} is not a date")
    return value


def _jti(claims: dict[str, Any]) -> str:
    jti = claims.get("jti")
    if not isinstance(jti, str) or not 1 <= len(jti) <= PROOF_JTI_MAX_CHARACTERS:
        raise _refused(f"jti must have 1 to {PROOF_JTI_MAX_CHARACTERS} characters")
    return jti


def _ticket(thumbprint: str, jti: str, issued_at: float) -> ProofTicket:
    digest = hashlib.sha256(f"{thumbprint}\0{jti}".encode()).digest()
    last_pass = math.ceil(issued_at) + PROOF_MAX_AGE_SECONDS
    return ProofTicket(digest, math.floor(issued_at), last_pass + PROOF_MAX_AHEAD_SECONDS)


def _refused(reason: str) -> InvalidDpopProof:
    return InvalidDpopProof(f"The DPoP proof was refused: {reason}.")
