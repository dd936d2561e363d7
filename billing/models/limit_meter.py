"""What one subject has used of its limits of a minute."""

from django.db import models

from billing.models.fields import KeyField


class LimitMeter(models.Model):
    """The levels of one subject's two buckets, as of their times. Each drains at its quota in a minute.

    A level is 60,000,000 for each request or token (`billing.rules.limits`), so that all arithmetic is of whole numbers.
    `tokens_quota` is the quota at which the level of tokens drains, null without one. Only `billing/sql/limits.sql` writes this table: the rows
    of accounts, organizations and members under their wallet's lock, those of clients and aliases under their own.
    """

    scope = KeyField()
    subject = KeyField()
    requests_level = models.BigIntegerField(db_default=0)
    requests_at = models.DateTimeField()
    tokens_level = models.BigIntegerField(db_default=0)
    tokens_at = models.DateTimeField()
    tokens_quota = models.BigIntegerField(null=True)

    class Meta:
        db_table = "billing_limit_meter"
        constraints = [models.UniqueConstraint(fields=["scope", "subject"], name="limit_meter_one_per_subject")]

    def __str__(self) -> str:
        return f"{self.scope} {self.subject}"
