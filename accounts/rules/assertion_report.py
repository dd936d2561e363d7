"""Explains every check of an assertion, as the exchange makes them: what was found, what was expected, and whether it passed.

The report shows claims and the public header, never the signature.
"""

import json
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime

from accounts.rules import assertion as assertions
from accounts.rules import jwk, jwt, scopes
from accounts.rules.assertion import AssertionRefused, Issuer
from gateway.core.contract.limits import ASSERTION_MAX_SECONDS

PASSED, FAILED, SKIPPED = "passed", "failed", "not checked"
SHOWN_CHARACTERS = 300


@dataclass(frozen=True, slots=True)
class Step:
    """One check: its title and state, what the assertion has, what it must have, and why it failed."""

    title: str
    state: str
    found: str
    expected: str
    reason: str = ""


def report(token: str, issuer: Issuer, now: float) -> tuple[list[Step], jwt.Jws | None]:
    """Run all checks of an assertion at Unix time `now`, also those after one that fails, in the order of the exchange. Return
    them, and the assertion if it could be read.
    """
    try:
        jws, _ = assertions.parse(token)
    except AssertionRefused as refused:
        size = f"{len(token)} characters"
        unread = [Step(title, SKIPPED, "", "") for title, *_ in _SHOWN.values()]
        return [Step("Format", FAILED, size, "a compact JWS with a strict JSON object", str(refused)), *unread], None
    read = Step("Format", PASSED, f"{jws.alg}, {len(token)} characters", "a compact JWS, ES256 or EdDSA")
    return [read, *(_step(cause, jws, issuer, now) for cause in assertions.CHECKS)], jws


def _step(cause: str, jws: jwt.Jws, issuer: Issuer, now: float) -> Step:
    title, found, expected = _SHOWN[cause]
    shown = found(jws, issuer, now), expected(issuer)
    try:
        assertions.run(cause, jws, issuer, now)
    except AssertionRefused as refused:
        return Step(title, FAILED, *shown, reason=str(refused))
    return Step(title, PASSED, *shown)


def shown(value: object) -> str:
    """Return a value as JSON, shortened; "missing" for none."""
    if value is None:
        return "missing"
    text = json.dumps(value, ensure_ascii=True)
    return text if len(text) <= SHOWN_CHARACTERS else f"{text[:SHOWN_CHARACTERS]}…"


def _claim(name: str) -> Callable[[jwt.Jws, Issuer, float], str]:
    return lambda jws, issuer, now: shown(jws.claims.get(name))


def _time(name: str) -> Callable[[jwt.Jws, Issuer, float], str]:
    """Show a time, and how far it is from now."""

    def found(jws: jwt.Jws, issuer: Issuer, now: float) -> str:
        value = jws.claims.get(name)
        if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value < 2**33:
            return shown(value)
        off = value - now
        when = f"{datetime.fromtimestamp(value, UTC):%Y-%m-%d %H:%M:%S} UTC"
        return f"{value}, {when}, {abs(off):.0f} s {'from now' if off > 0 else 'ago'}"

    return found


def _lifetime(jws: jwt.Jws, issuer: Issuer, now: float) -> str:
    issued, expires = (jws.claims.get(name) for name in ("iat", "exp"))
    if isinstance(issued, int | float) and isinstance(expires, int | float):
        return f"{expires - issued:g} s"
    return f"iat {shown(issued)}, exp {shown(expires)}"


def _key(jws: jwt.Jws, issuer: Issuer, now: float) -> str:
    """Name the header's algorithm and kid, and the key that they select."""
    named = f"alg {jws.alg}, kid {shown(jws.header.get('kid'))}"
    try:
        key = jwk.parse(assertions.select_key(jws.header, issuer.keys))
    except (AssertionRefused, jwk.JwkError):
        return named
    return f"{named}; this selects the {key.alg} key {key.thumbprint}"


def _keys(issuer: Issuer) -> str:
    kids = ", ".join(str(key.get("kid", "without a kid")) for key in issuer.keys)
    return f"a signature by one of the integration's keys: {kids}"


def _capabilities(jws: jwt.Jws, issuer: Issuer, now: float) -> str:
    """List what was requested, and what of it would not be granted."""
    named = jws.claims.get("capabilities")
    if not isinstance(named, list) or not all(isinstance(name, str) and scopes.is_scope(name) for name in named):
        return shown(named)
    beyond = scopes.missing(named, issuer.capabilities)
    return shown(named) + (f"; beyond the integration, so not granted: {shown(list(beyond))}" if beyond else "")


def _words(text: str) -> Callable[[Issuer], str]:
    return lambda issuer: text


_Found = Callable[[jwt.Jws, Issuer, float], str]
_SHOWN: dict[str, tuple[str, _Found, Callable[[Issuer], str]]] = {
    "type": ("Type", lambda jws, *_: shown(jws.header.get("typ")), _words("JWT or none, not another kind of token")),
    "signature": ("Key and signature", _key, _keys),
    "issuer": ("Issuer (iss)", _claim("iss"), lambda issuer: shown(issuer.name)),
    "audience": ("Audience (aud)", _claim("aud"), lambda issuer: shown(issuer.audience)),
    "product": ("Product", _claim("product"), lambda issuer: shown(issuer.product)),
    "lifetime": ("Lifetime (exp - iat)", _lifetime, _words(f"more than 0, at most {ASSERTION_MAX_SECONDS} s")),
    "expired": ("Expiry (exp)", _time("exp"), _words("in the future")),
    "issued": ("Issued (iat)", _time("iat"), _words(f"at most {assertions.CLOCK_AHEAD_SECONDS} s in the future")),
    "start": (
        "Start (nbf)",
        _time("nbf"),
        _words(f"none, or at most {assertions.CLOCK_AHEAD_SECONDS} s in the future"),
    ),
    "capabilities": (
        "Capabilities",
        _capabilities,
        lambda issuer: f"an array of scopes; granted are those within {shown(list(issuer.capabilities))}",
    ),
    "subject": ("Subject (sub)", _claim("sub"), lambda issuer: f"a DID that begins with {issuer.did_prefix}"),
    "consents": ("Consents", _claim("consents"), _words("none, or an array of texts")),
    "jti": ("Id (jti)", _claim("jti"), _words(f"text of 1 to {assertions.TEXT_MAX_CHARACTERS} characters")),
    "bound_key": ("Bound key (cnf)", _claim("cnf"), _words("none, or the thumbprint of the client's key as jkt")),
}
"""Title, what to show of the assertion, and what the integration expects, for each of the checks."""

CAUSES = {
    **{cause: title for cause, (title, *_) in _SHOWN.items()},
    "disabled": "Integration",
    "client_key": "Bound key (cnf) and the client's key",
    "scope": "Requested scope",
    "replayed": "Replay",
    "account": "Account",
}
"""The titles of the causes for which exchanges are refused."""
