"""A limit on what an owner's wallet spends in a day, a week or a month."""

from datetime import datetime

from django.db import models
from django.db.models.functions import Now

from billing.models.fields import KeyField, MicrousdField
from billing.models.wallet import Wallet
from billing.rules.budgets import BudgetPeriod, BudgetScope, begin_of, period_around
from gateway.core.contract.amounts import usd


class Budget(models.Model):
    """One subject's limit for a period in UTC. SPEC: Organization-related resources.

    `spent` is for the period that begins at `period_start`; for an older period it means 0. Before `override_until`,
    `override_limit` is the limit instead; both are null or neither. A disabled budget refuses no calls but keeps
    counting, so that it is correct when it is enabled again. A subject has exactly one row for each kind of period,
    which is never deleted. `alerted_percent` is the threshold (80 or 100) that was last recorded in its period, 0 for none.
    """

    id = KeyField(primary_key=True)
    wallet = models.ForeignKey(Wallet, models.PROTECT, related_name="budgets", db_index=False)
    scope = models.TextField(choices=[(scope.value, scope.value) for scope in BudgetScope])
    product = KeyField(null=True)
    membership_id = KeyField(null=True)
    client_id = KeyField(null=True)
    period = models.TextField(
        choices=[(period.value, period.value) for period in BudgetPeriod], db_default=BudgetPeriod.MONTH.value
    )
    limit_microusd = MicrousdField()
    override_limit_microusd = MicrousdField(null=True)
    override_until = models.DateTimeField(null=True)
    spent_microusd = MicrousdField(db_default=0)
    held_microusd = MicrousdField(db_default=0)
    period_start = models.DateField()
    disabled_at = models.DateTimeField(null=True)
    alerted_percent = models.SmallIntegerField(db_default=0)
    created_at = models.DateTimeField(db_default=Now())

    class Meta:
        db_table = "billing_budget"
        constraints = [
            models.UniqueConstraint(
                fields=["wallet", "membership_id", "client_id", "product", "period"],
                name="budget_one_per_period",
                nulls_distinct=False,
            ),
        ]

    def __str__(self) -> str:
        return f"{self.scope} budget {self.id}: {usd(self.limit_microusd)} a {self.period}"

    def spent_at(self, now: datetime) -> int:
        """Return what is spent in the current period, in micro-USD: 0 if the row still counts an earlier one."""
        return self.spent_microusd if self.period_start >= begin_of(self.period, now) else 0

    def limit_at(self, now: datetime) -> int:
        """Return the limit that calls are held against, in micro-USD: the override's while there is one."""
        other = self.override_limit_microusd
        return self.limit_microusd if other is None or self.override_at(now) is None else other

    def override_at(self, now: datetime) -> datetime | None:
        """Return when the override ends, or None if there is none or it has ended."""
        return self.override_until if self.override_until is not None and now < self.override_until else None

    def period_at(self, now: datetime) -> tuple[datetime, datetime]:
        """Return the current period, half-open."""
        return period_around(self.period, now)
