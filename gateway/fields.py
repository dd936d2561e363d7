"""Model fields that rest encrypted.

The keys are `FIELD_ENCRYPTION_KEYS`, newest first: the first one encrypts, every one decrypts, so a key is rotated by
putting a new one in front and saving the rows again.
"""

from functools import lru_cache
from typing import Any

from cryptography.fernet import Fernet, InvalidToken, MultiFernet
from django.conf import settings
from django.core.exceptions import ImproperlyConfigured
from django.db import models


class EncryptedTextField(models.TextField):
    """Text that is encrypted before it reaches the database (Fernet: AES-128-CBC with HMAC-SHA256)."""

    def get_prep_value(self, value: Any) -> Any:
        """Encrypt; empty text stays empty."""
        return _cipher().encrypt(str(value).encode()).decode() if value else value

    def from_db_value(self, value: Any, expression: Any, connection: Any) -> Any:
        """Decrypt, or raise ImproperlyConfigured when no configured key fits."""
        if not value:
            return value
        try:
            return _cipher().decrypt(value.encode()).decode()
        except InvalidToken:
            raise ImproperlyConfigured(
                f"No key of FIELD_ENCRYPTION_KEYS decrypts {self.model.__name__}.{self.name}."
            ) from None


def _cipher() -> MultiFernet:
    return _cipher_of(tuple(settings.FIELD_ENCRYPTION_KEYS))


@lru_cache(maxsize=4)
def _cipher_of(keys: tuple[str, ...]) -> MultiFernet:
    return MultiFernet([Fernet(key) for key in keys])
