"""How often somebody did something lately."""

from django.db import models


class Limit(models.Model):
    """A count within a window that began with its first use: `digest` is SHA-256 over what is counted and of whom.

    The table is unlogged: a count is cheap to keep, every process shares it, and a crash of the database forgets it.
    """

    digest = models.BinaryField(primary_key=True)
    used = models.PositiveIntegerField()
    ends_at = models.DateTimeField()

    class Meta:
        db_table = "accounts_limit"
        indexes = [models.Index(fields=["ends_at"], name="accounts_limit_end")]

    def __str__(self) -> str:
        return f"{self.used} until {self.ends_at}"
