"""What an identity provider says of a person. OpenID Connect Core sections 2, 5.1 and 5.3.2.

Providers are third-party programs: each claim must be what the standard says, or the sign-in is refused.
"""

from typing import Any

SUBJECT_MAX_CHARACTERS = 191
"""As many as are stored; the standard's own limit is 255."""
TEXT_MAX_CHARACTERS = 2000
TEXTS = ("email", "name", "preferred_username", "given_name", "family_name")


class OddClaims(ValueError):
    """Claims that the standard does not allow, or that contradict one another."""


def read(response: Any) -> dict[str, Any]:
    """Return the claims that are used, from the user information or else from the ID token. Raises OddClaims."""
    told = response if isinstance(response, dict) else {}
    claims = [_claims(told[name]) for name in ("userinfo", "id_token") if name in told]
    if not claims:
        raise OddClaims("no claims")
    if len({_subject(one) for one in claims}) > 1:
        raise OddClaims("the user information is about another person than the ID token")
    first = claims[0]
    texts = {name: _text(name, first[name]) for name in TEXTS if first.get(name) is not None}
    return {"sub": _subject(first), "email_verified": _flag(first.get("email_verified", False)), **texts}


def _claims(value: Any) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise OddClaims("the claims are not an object")
    return value


def _subject(claims: dict[str, Any]) -> str:
    """Return who it is. A number is refused: 1 and "1" would be one person."""
    subject = claims.get("sub")
    if not isinstance(subject, str) or not 0 < len(subject) <= SUBJECT_MAX_CHARACTERS:
        raise OddClaims("sub is not text of 1 to 191 characters")
    if not subject.isascii() or not subject.isprintable() or subject != subject.strip():
        raise OddClaims("sub contains characters that the standard does not allow")
    return subject


def _text(name: str, value: Any) -> str:
    if not isinstance(value, str) or len(value) > TEXT_MAX_CHARACTERS or not value.isprintable():
        raise OddClaims(f"{name} is not plain text")
    return value


def _flag(value: Any) -> bool:
    """Return whether the address was verified; some providers write the boolean as text."""
    if value in ("true", "false"):
        return bool(value == "true")
    if not isinstance(value, bool):
        raise OddClaims("email_verified is not a boolean")
    return value
