"""Checks the secrets that CI providers sign webhooks with."""

from collections.abc import Iterable

SECRET_MIN_CHARACTERS = 8
LENGTH_WORDS = f"must have at least {SECRET_MIN_CHARACTERS} characters, so that it cannot be guessed"
SHARED_WORDS = "is also a secret of another provider, who could sign for this one"


def is_long_enough(secret: str) -> bool:
    """Return whether a random secret of this length cannot be guessed by sending webhooks. From a signed webhook that
    somebody else has recorded, only a longer one cannot be computed."""
    return len(secret) >= SECRET_MIN_CHARACTERS


def is_shared(secrets: Iterable[str], others: Iterable[str]) -> bool:
    """Return whether one of a provider's secrets is one of those of the others. An empty text is not a secret."""
    return not {secret for secret in secrets if secret}.isdisjoint(others)
