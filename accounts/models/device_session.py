"""Grants to public clients: a device session, or the single token issued for a code."""

from django.contrib.postgres.fields import ArrayField
from django.db import models

from accounts.models.account import Account
from gateway.core.contract.ids import new_id


def new_session_id() -> str:
    """Generate a `dev_` id."""
    return new_id("dev")


class DeviceSession(models.Model):
    """A grant to one key of one client. SPEC: Scopes and device sessions.

    A persistent grant is a device session: it expires 30 days after its creation and its refresh credential rotates
    (`generation`). Any other grant ends with its only token; it exists so that this token can be revoked.
    """

    id = models.CharField(primary_key=True, max_length=64, default=new_session_id, editable=False)
    account = models.ForeignKey(Account, models.CASCADE, related_name="device_sessions")
    client_id = models.CharField(max_length=255)
    name = models.CharField(max_length=120, blank=True)
    persistent = models.BooleanField(default=True)
    jkt = models.CharField(max_length=43, default="")
    scopes = ArrayField(models.CharField(max_length=255), default=list)
    consents = ArrayField(models.CharField(max_length=64), default=list)
    generation = models.PositiveIntegerField(default=1)
    created_at = models.DateTimeField()
    expires_at = models.DateTimeField()
    rotated_at = models.DateTimeField(null=True, blank=True)
    revoked_at = models.DateTimeField(null=True, blank=True)
    last_used_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        db_table = "accounts_device_session"
        indexes = [
            models.Index(fields=["expires_at"], name="device_session_expiry"),
            models.Index(
                fields=["revoked_at"], name="device_session_revoked", condition=models.Q(revoked_at__isnull=False)
            ),
        ]

    def __str__(self) -> str:
        return self.name or self.id
