"""Seals over closed rows."""

from django.db import models
from django.db.models.functions import Now


class Seal(models.Model):
    """A hash over all rows that became final in [begins_at, ends_at), chained to the seal before; never changed.

    `contents` maps each noun of the views `billing_sealable` and `billing_sealable_later` to its number of `rows` and
    their SHA-256 `digest`. `chain` is the SHA-256 over the previous chain and this seal, so that no earlier seal can be
    changed unnoticed.
    """

    id = models.BigIntegerField(primary_key=True)
    begins_at = models.DateTimeField()
    ends_at = models.DateTimeField()
    contents = models.JSONField()
    chain = models.BinaryField()
    sealed_at = models.DateTimeField(db_default=Now())

    class Meta:
        db_table = "billing_seal"
        indexes = [models.Index(fields=["ends_at"], name="seal_by_end")]

    def __str__(self) -> str:
        return f"seal {self.id} until {self.ends_at:%Y-%m-%d %H:%M:%S}"
