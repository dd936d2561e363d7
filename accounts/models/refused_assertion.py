"""Why assertions of an integration were refused of late, for its page in the console."""

from django.db import models
from django.db.models.functions import Now

from accounts.models.integration import Integration


class RefusedAssertion(models.Model):
    """The refusals of one integration for one cause, and the latest few of them.

    One row for each integration and cause, so nobody fills the table, and refusals for one cause push out none of another.
    `latest` lists, newest first, `{"at", "requestId", "reason"}`. No assertion and nothing of its content is stored.
    """

    integration = models.ForeignKey(Integration, models.CASCADE, related_name="refusals", db_index=False)
    cause = models.CharField(max_length=32)
    count = models.PositiveBigIntegerField()
    latest = models.JSONField(default=list)
    last_at = models.DateTimeField(db_default=Now(), db_index=True)

    class Meta:
        db_table = "accounts_refused_assertion"
        verbose_name = "refusal"
        constraints = [models.UniqueConstraint(fields=["integration", "cause"], name="refused_one_per_cause")]

    def __str__(self) -> str:
        return f"{self.cause}: {self.count}"
