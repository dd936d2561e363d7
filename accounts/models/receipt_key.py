"""The keys that sign receipts, whose public parts are published for ever."""

from django.db import models
from django.db.models import Q

from gateway.core.encryption.bound_text import BoundTextField


class ReceiptKey(models.Model):
    """An ES256 key for receipts and nothing else. `kid` is its RFC 7638 thumbprint; the private part is stored encrypted,
    as PEM, and is empty once the key signs no more.
    """

    class State(models.TextChoices):
        PENDING = "pending"  # published, not yet signing
        ACTIVE = "active"  # signs
        RETIRED = "retired"  # published, so that its receipts can be verified; its private part is destroyed
        WITHDRAWN = "withdrawn"  # leaked: published no more, because anyone may have signed by it

    kid = models.CharField(max_length=64, unique=True)
    state = models.CharField(max_length=16, choices=State.choices)
    public_jwk = models.JSONField()
    private_pem = BoundTextField(bound_to=("kid",))
    created_at = models.DateTimeField()
    activated_at = models.DateTimeField(null=True, blank=True)
    retired_at = models.DateTimeField(null=True, blank=True)
    withdrawn_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        db_table = "accounts_receipt_key"
        constraints = [
            models.UniqueConstraint(
                fields=["state"], condition=Q(state="active"), name="accounts_one_active_receipt_key"
            ),
            models.UniqueConstraint(
                fields=["state"], condition=Q(state="pending"), name="accounts_one_pending_receipt_key"
            ),
        ]

    def __str__(self) -> str:
        return self.kid
