"""How many accounts were active, by day."""

from django.db import models

from billing.models.fields import KeyField


class ActiveDay(models.Model):
    """How many accounts had a settled call that closed on one UTC day, `accounts`, and in the 30 days that end with it,
    `month_accounts`. `last_accounts` of them have had none on a later day.

    Derived only from closed calls, by `billing_roll_up_usage`, which can recompute it.
    """

    day = models.DateField(primary_key=True)
    accounts = models.BigIntegerField()
    last_accounts = models.BigIntegerField()
    month_accounts = models.BigIntegerField()

    class Meta:
        db_table = "billing_active_day"

    def __str__(self) -> str:
        return f"{self.day}: {self.accounts} accounts"


class ActiveAccount(models.Model):
    """The last day on which an account was active, so that it counts once on a day and in 30 days. Derived like the days."""

    actor_did = KeyField(primary_key=True)
    last_on = models.DateField()

    class Meta:
        db_table = "billing_active_account"

    def __str__(self) -> str:
        return f"{self.actor_did}: {self.last_on}"
