"""The gateway's signing keys, published before their first use and until their last token has expired."""

from django.db import models
from django.db.models import Q

from gateway.core.encryption.fields import EncryptedTextField


class SigningKey(models.Model):
    """An ES256 key. `kid` is its RFC 7638 thumbprint; the private part is stored encrypted, as PEM."""

    class State(models.TextChoices):
        PENDING = "pending"  # published, not yet signing
        ACTIVE = "active"  # signs
        PASSIVE = "passive"  # published until its last token has expired
        RETIRED = "retired"  # no longer accepted

    kid = models.CharField(max_length=64, unique=True)
    state = models.CharField(max_length=16, choices=State.choices)
    public_jwk = models.JSONField()
    private_pem = EncryptedTextField()
    created_at = models.DateTimeField()
    activated_at = models.DateTimeField(null=True, blank=True)
    passive_at = models.DateTimeField(null=True, blank=True)
    retired_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        db_table = "accounts_signing_key"
        constraints = [
            models.UniqueConstraint(fields=["state"], condition=Q(state="active"), name="accounts_one_active_key"),
            models.UniqueConstraint(fields=["state"], condition=Q(state="pending"), name="accounts_one_pending_key"),
        ]

    def __str__(self) -> str:
        return self.kid
