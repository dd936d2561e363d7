"""Consents beyond scopes that a person gave to an app: given on the consent page, withdrawn in the portal."""

from django.db import models

from accounts.models.account import Account

REALTIME = "realtime"


class Consent(models.Model):
    """A person's consent to a client. Giving it again after a withdrawal reactivates the same row."""

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
