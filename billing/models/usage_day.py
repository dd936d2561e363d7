"""What closed calls add up to, day by day."""

from django.db import models
from django.db.models import F, Q
from django.db.models.functions import Now

from billing.models.fields import KeyField, MicrousdField
from billing.models.wallet import Wallet


class UsageSubject(models.Model):
    """Whose calls of which model a row of days is about; `product` and `membership_id` are null as in the calls."""

    id = models.BigAutoField(primary_key=True)
    wallet = models.ForeignKey(Wallet, models.PROTECT, related_name="+", db_index=False, db_constraint=False)
    product = KeyField(null=True)
    membership_id = KeyField(null=True)
    actor_did = KeyField()
    model = KeyField()

    class Meta:
        db_table = "billing_usage_subject"
        constraints = [
            models.UniqueConstraint(
                fields=["wallet", "product", "membership_id", "actor_did", "model"],
                name="usage_subject_once",
                nulls_distinct=False,
            )
        ]

    def __str__(self) -> str:
        return f"{self.wallet_id}: {self.product}, {self.actor_did}, {self.model}"


class UsageDay(models.Model):
    """The settled calls of a subject that closed on one UTC day and were begun on one: how many, their tokens, and the
    ledger's charges for them.

    Derived from closed calls alone, by `billing_roll_up_usage`, which can make it again at any time. Both days, because
    calls and tokens count on the day they were begun, and charges on the day they were posted.
    """

    pk = models.CompositePrimaryKey("subject_id", "closed_on", "begun_on")
    subject = models.ForeignKey(UsageSubject, models.PROTECT, related_name="days", db_index=False, db_constraint=False)
    closed_on = models.DateField()
    begun_on = models.DateField()
    calls = models.BigIntegerField()
    input_tokens = models.BigIntegerField()
    output_tokens = models.BigIntegerField()
    charges = models.BigIntegerField()
    charged_microusd = MicrousdField()

    class Meta:
        db_table = "billing_usage_day"
        indexes = [
            # The few calls that were closed on a later day, so that a month finds those that outlasted it.
            models.Index(
                fields=["subject", "begun_on"], name="usage_day_of_late_calls", condition=Q(closed_on__gt=F("begun_on"))
            )
        ]

    def __str__(self) -> str:
        return f"{self.subject_id}, begun {self.begun_on}, closed {self.closed_on}: {self.calls} calls"


class UsageHorizon(models.Model):
    """Up to when calls have been added to the days: every settled call that closed before `ends_at`, and none since.

    There is one row, and none before the first run.
    """

    id = models.SmallIntegerField(primary_key=True)
    ends_at = models.DateTimeField()
    calls = models.BigIntegerField()
    moved_at = models.DateTimeField(db_default=Now())

    class Meta:
        db_table = "billing_usage_horizon"
        constraints = [models.CheckConstraint(condition=Q(id=1), name="usage_horizon_is_one")]

    def __str__(self) -> str:
        return f"{self.calls} calls until {self.ends_at:%Y-%m-%d %H:%M:%S}"
