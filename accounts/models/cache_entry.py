"""What the processes count together without Redis: attempts to sign in, and codes of second factors that were used."""

from django.db import models


class CacheEntry(models.Model):
    """An entry of Django's cache (`gateway.core.database.cache`). It has no meaning once it has expired."""

    key = models.TextField(primary_key=True)
    value = models.TextField()
    expires_at = models.DateTimeField()

    class Meta:
        db_table = "accounts_cache_entry"
        indexes = [models.Index(fields=["expires_at"], name="accounts_cache_expiry")]

    def __str__(self) -> str:
        return self.key
