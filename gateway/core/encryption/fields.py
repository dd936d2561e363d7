"""Encrypts model fields and other text for storage.

The keys are `FIELD_ENCRYPTION_KEYS`, newest first: the first one encrypts, all of them decrypt. To rotate a key, put a
new one first and save the rows again.
"""

from functools import lru_cache
from typing import Any

from cryptography.fernet import Fernet, InvalidToken, MultiFernet
from django.conf import settings
from django.core.exceptions import ImproperlyConfigured
from django.db import models

TOKEN_START = "gAAAA"  # noqa: S105 - version 0x80 and the first bytes of the time, in base64


class EncryptedTextField(models.TextField):
    """Text that is encrypted before it reaches the database (Fernet: AES-128-CBC with HMAC-SHA256)."""

    def get_prep_value(self, value: Any) -> Any:
        """Encrypt; empty text stays empty."""
        return encrypt(str(value)) if value else value

    def from_db_value(self, value: Any, expression: Any, connection: Any) -> Any:
        """Decrypt, or raise ImproperlyConfigured when no configured key fits."""
        if not value:
            return value
        try:
            return decrypt(value)
        except InvalidToken:
            raise ImproperlyConfigured(
                f"No key of FIELD_ENCRYPTION_KEYS decrypts {self.model.__name__}.{self.name}."
            ) from None


def encrypt(text: str) -> str:
    """Return the text encrypted with the newest key."""
    return _cipher().encrypt(text.encode()).decode()


def decrypt(token: str) -> str:
    """Decrypt text with any configured key; raises InvalidToken if none fits."""
    return _cipher().decrypt(token.encode()).decode()


def is_encrypted(text: str) -> bool:
    """Distinguish a token of `encrypt` from one of `gateway.core.encryption.stored_bytes` (Fernet specification, Version)."""
    return text.startswith(TOKEN_START)


def _cipher() -> MultiFernet:
    return _cipher_of(tuple(settings.FIELD_ENCRYPTION_KEYS))


@lru_cache(maxsize=4)
def _cipher_of(keys: tuple[str, ...]) -> MultiFernet:
    return MultiFernet([Fernet(key) for key in keys])
