"""Daily sums of closed calls."""

from django.db import models
from django.db.models import F, Q
from django.db.models.functions import Now

from billing.models.fields import KeyField, MicrousdField
from billing.models.wallet import Wallet


class UsageSubject(models.Model):
    """The caller, app and model that a day's row is about; `product` and `membership_id` are null as in the calls, and so is
    `client_id`, which is also null for calls that closed before the horizon's `apps_begin_at`.
    """

    id = models.BigAutoField(primary_key=True)
    wallet = models.ForeignKey(Wallet, models.PROTECT, related_name="+", db_index=False, db_constraint=False)
    product = KeyField(null=True)
    membership_id = KeyField(null=True)
    actor_did = KeyField()
    model = KeyField()
    client_id = KeyField(null=True)

    class Meta:
        db_table = "billing_usage_subject"
        constraints = [
            models.UniqueConstraint(
                fields=["wallet", "product", "membership_id", "actor_did", "model", "client_id"],
                name="usage_subject_once_per_app",
                nulls_distinct=False,
            )
        ]

    def __str__(self) -> str:
        return f"{self.wallet_id}: {self.product}, {self.actor_did}, {self.model}"


class UsageDay(models.Model):
    """The settled calls of a subject that began on one UTC day and closed on one: their number, their tokens, and their
    charges in the ledger.

    Derived only from closed calls, by `billing_roll_up_usage`, which can recompute it. Both days are needed, because
    calls and tokens count on the day they began, and charges on the day they were posted.
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
            # The few calls that closed on a later day, so that a month finds the calls that extended beyond it.
            models.Index(
                fields=["subject", "begun_on"], name="usage_day_of_late_calls", condition=Q(closed_on__gt=F("begun_on"))
            )
        ]

    def __str__(self) -> str:
        return f"{self.subject_id}, begun {self.begun_on}, closed {self.closed_on}: {self.calls} calls"


class UsageHorizon(models.Model):
    """The end of the calls included in the days: every settled call that closed before `ends_at`, and no later one.

    There is one row, and none before the first run. The margins (`MarginDay`) include the same calls, but none that closed before
    `margins_begin_at`; and the days name the app of no call that closed before `apps_begin_at`. Both are null before the first
    run that knew of them.
    """

    id = models.SmallIntegerField(primary_key=True)
    ends_at = models.DateTimeField()
    calls = models.BigIntegerField()
    moved_at = models.DateTimeField(db_default=Now())
    margins_begin_at = models.DateTimeField(null=True)
    apps_begin_at = models.DateTimeField(null=True)

    class Meta:
        db_table = "billing_usage_horizon"
        constraints = [models.CheckConstraint(condition=Q(id=1), name="usage_horizon_is_one")]

    def __str__(self) -> str:
        return f"{self.calls} calls until {self.ends_at:%Y-%m-%d %H:%M:%S}"
