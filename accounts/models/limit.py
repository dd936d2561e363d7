"""Counters of the rate limits."""

from django.db import models


class Limit(models.Model):
    """A count within a window that begins with the first use. `digest` is the SHA-256 of the limit's name and its user.

    The table is unlogged, which makes counting cheap. Counts are lost if the database crashes.
    """

    digest = models.BinaryField(primary_key=True)
    used = models.PositiveIntegerField()
    ends_at = models.DateTimeField()

    class Meta:
        db_table = "accounts_limit"
        indexes = [models.Index(fields=["ends_at"], name="accounts_limit_end")]

    def __str__(self) -> str:
        return f"{self.used} until {self.ends_at}"
