"""What a person agreed to beyond scopes, for one app: given on the consent page, withdrawn in the portal."""

from django.db import models

from accounts.models.account import Account

REALTIME = "realtime"


class Consent(models.Model):
    """One consent of a person to a client. Given again, the same row stands again."""

    account = models.ForeignKey(Account, models.CASCADE, related_name="consents")
    client_id = models.CharField(max_length=255)
    kind = models.CharField(max_length=64)
    given_at = models.DateTimeField()
    withdrawn_at = models.DateTimeField(null=True)

    class Meta:
        db_table = "accounts_consent"
        constraints = [
            models.UniqueConstraint(fields=["account", "client_id", "kind"], name="accounts_one_consent_of_a_kind")
        ]

    def __str__(self) -> str:
        return f"{self.kind} for {self.client_id}"
