"""Checks an identity provider's claims about a person. OpenID Connect Core sections 2, 5.1 and 5.3.2.

Providers are not trusted. If a claim does not conform to the standard, the sign-in is refused.
"""

from typing import Any

SUBJECT_MAX_CHARACTERS = 191
"""The size of django-allauth's column. The standard's limit is 255."""
TEXT_MAX_CHARACTERS = 2000
TEXTS = ("email", "name", "preferred_username", "given_name", "family_name")


class InvalidClaims(ValueError):
    """Claims that the standard does not allow, or that contradict one another."""


def read(response: Any) -> dict[str, Any]:
    """Return the claims that the gateway uses, from the UserInfo response or else from the ID token. Raises
    InvalidClaims.
    """
    sources = response if isinstance(response, dict) else {}
    claims = [_claims(sources[name]) for name in ("userinfo", "id_token") if name in sources]
    if not claims:
        raise InvalidClaims("no claims")
    if len({_subject(one) for one in claims}) > 1:
        raise InvalidClaims("the UserInfo response and the ID token have different subjects")
    first = claims[0]
    texts = {name: _text(name, first[name]) for name in TEXTS if first.get(name) is not None}
    return {"sub": _subject(first), "email_verified": _flag(first.get("email_verified", False)), **texts}


def _claims(value: Any) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise InvalidClaims("the claims are not an object")
    return value


def _subject(claims: dict[str, Any]) -> str:
    """Return the subject. Numbers are refused, because 1 and "1" would be the same person."""
    subject = claims.get("sub")
    if not isinstance(subject, str) or not 0 < len(subject) <= SUBJECT_MAX_CHARACTERS:
        raise InvalidClaims("sub is not text of 1 to 191 characters")
    if not subject.isascii() or not subject.isprintable() or subject != subject.strip():
        raise InvalidClaims("sub contains characters that the standard does not allow")
    return subject


def _text(name: str, value: Any) -> str:
    if not isinstance(value, str) or len(value) > TEXT_MAX_CHARACTERS or not value.isprintable():
        raise InvalidClaims(f"{name} is not plain text")
    return value


def _flag(value: Any) -> bool:
    """Return whether the address is verified. Some providers send the boolean as text."""
    if value in ("true", "false"):
        return bool(value == "true")
    if not isinstance(value, bool):
        raise InvalidClaims("email_verified is not a boolean")
    return value
