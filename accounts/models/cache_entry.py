"""Counters that all processes share: sign-in attempts and used second-factor codes."""

from django.db import models


class CacheEntry(models.Model):
    """An entry of Django's cache (`gateway.core.database.cache`). It is ignored once it has expired."""

    key = models.TextField(primary_key=True)
    value = models.TextField()
    expires_at = models.DateTimeField()

    class Meta:
        db_table = "accounts_cache_entry"
        indexes = [models.Index(fields=["expires_at"], name="accounts_cache_expiry")]

    def __str__(self) -> str:
        return self.key
