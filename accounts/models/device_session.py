"""A signed-in device of a public client. SPEC: Scopes and device sessions."""

from django.db import models

from accounts.models.account import Account
from gateway.contract.ids import new_id


def new_session_id() -> str:
    """Make a `dev_` id."""
    return new_id("dev")


class DeviceSession(models.Model):
    """A device session; it lives for 30 days from its creation and ends at once when it is revoked."""

    id = models.CharField(primary_key=True, max_length=64, default=new_session_id, editable=False)
    account = models.ForeignKey(Account, models.CASCADE, related_name="device_sessions")
    client_id = models.CharField(max_length=255)
    name = models.CharField(max_length=120, blank=True)
    created_at = models.DateTimeField()
    expires_at = models.DateTimeField()
    revoked_at = models.DateTimeField(null=True, blank=True)
    last_used_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        db_table = "accounts_device_session"

    def __str__(self) -> str:
        return self.name or self.id
