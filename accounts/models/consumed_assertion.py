"""Exchanged product assertions; each can be used once. SPEC: States and transitions."""

from django.db import models


class ConsumedAssertion(models.Model):
    """An exchanged assertion. The row is stored until the assertion has expired on every machine, clock skew
    included.
    """

    issuer = models.CharField(max_length=255)
    jti = models.CharField(max_length=255)
    expires_at = models.DateTimeField(db_index=True)

    class Meta:
        db_table = "accounts_consumed_assertion"
        constraints = [models.UniqueConstraint(fields=["issuer", "jti"], name="accounts_assertion_serves_once")]

    def __str__(self) -> str:
        return f"{self.issuer} {self.jti}"
