"""Checks the secrets of a gateway in production. Raises ImproperlyConfigured with a command that generates one."""

from collections.abc import Sequence

from cryptography.fernet import Fernet
from django.core.exceptions import ImproperlyConfigured

SECRET_KEY_MIN_CHARACTERS = 32
NEW_SECRET_KEY = 'python3 -c "import secrets; print(secrets.token_urlsafe(48))"'  # noqa: S105 - a command
NEW_FIELD_KEY = 'python3 -c "import base64, secrets; print(base64.urlsafe_b64encode(secrets.token_bytes(32)).decode())"'


def check_secret_key(key: str, default: str) -> None:
    """Refuse the default, and a key that is short enough to be guessed."""
    if key == default or len(key) < SECRET_KEY_MIN_CHARACTERS:
        raise ImproperlyConfigured(
            f"Set SECRET_KEY to at least {SECRET_KEY_MIN_CHARACTERS} random characters: {NEW_SECRET_KEY}"
        )


def check_field_keys(keys: Sequence[str]) -> None:
    """Refuse an empty list, and a key that cannot encrypt; report its position, never its value."""
    if not keys:
        raise ImproperlyConfigured(
            f"Set FIELD_ENCRYPTION_KEYS to one or more Fernet keys, separated by commas, the newest first: {NEW_FIELD_KEY}"
        )
    for number, key in enumerate(keys, 1):
        try:
            Fernet(key)
        except ValueError:
            raise ImproperlyConfigured(
                f"FIELD_ENCRYPTION_KEYS: key {number} of {len(keys)} is not a Fernet key. To make one: {NEW_FIELD_KEY}"
            ) from None
