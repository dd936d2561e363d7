"""Tokens of a settled call that a shared limit has not counted yet."""

from django.db import models

from billing.models.fields import KeyField


class LimitUse(models.Model):
    """Tokens that a client's or an alias's call used. The next hold under that limit moves them to its `LimitMeter`.

    A settlement adds a row instead of changing the meter, which all wallets share, so that it never waits for another wallet's
    call.
    """

    scope = KeyField()
    subject = KeyField()
    tokens = models.BigIntegerField()
    used_at = models.DateTimeField()

    class Meta:
        db_table = "billing_limit_use"
        indexes = [models.Index(fields=["scope", "subject", "used_at"], name="limit_use_of_subject")]

    def __str__(self) -> str:
        return f"{self.tokens} tokens of {self.scope} {self.subject}"
