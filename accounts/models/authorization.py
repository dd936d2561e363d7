"""Authorization requests and authorization codes."""

from django.contrib.postgres.fields import ArrayField
from django.db import models

from accounts.models.account import Account
from accounts.models.device_session import DeviceSession


class AuthorizationRequest(models.Model):
    """A validated authorization request, bound to the browser session that sent it (`browser_sha256`).

    The consent form carries only its id, so validated parameters cannot be changed. A request can be answered once.
    """

    id = models.CharField(primary_key=True, max_length=40)
    browser_sha256 = models.BinaryField(max_length=32)
    client_id = models.CharField(max_length=255)
    redirect_uri = models.TextField()
    state = models.TextField()
    scopes = ArrayField(models.CharField(max_length=255))
    code_challenge = models.CharField(max_length=43)
    dpop_jkt = models.CharField(max_length=43, null=True)
    created_at = models.DateTimeField()
    expires_at = models.DateTimeField(db_index=True)
    answered_at = models.DateTimeField(null=True)

    class Meta:
        db_table = "accounts_authorization_request"

    def __str__(self) -> str:
        return f"{self.id} of {self.client_id}"


class AuthorizationCode(models.Model):
    """An authorization code, stored hashed. It is valid for 60 seconds and can be used once. RFC 6749 section 4.1.2.

    Its first use sets `spent_at`, even with a wrong code verifier. `session` is the grant issued by that use; a second
    use revokes it. `scopes` is emptied when the person revokes the client. A code challenge can be used for only one
    authorization, ever.
    """

    code_sha256 = models.BinaryField(primary_key=True, max_length=32)
    account = models.ForeignKey(Account, models.CASCADE, related_name="+")
    client_id = models.CharField(max_length=255)
    redirect_uri = models.TextField()
    scopes = ArrayField(models.CharField(max_length=255))
    consents = ArrayField(models.CharField(max_length=64), default=list)
    code_challenge = models.CharField(max_length=43, unique=True)
    dpop_jkt = models.CharField(max_length=43, null=True)
    created_at = models.DateTimeField()
    expires_at = models.DateTimeField(db_index=True)
    spent_at = models.DateTimeField(null=True)
    session = models.ForeignKey(DeviceSession, models.SET_NULL, null=True, related_name="+")

    class Meta:
        db_table = "accounts_authorization_code"

    def __str__(self) -> str:
        return f"code of {self.client_id}"
