"""A monthly limit on what an organization's wallet spends."""

from django.db import models
from django.db.models.functions import Now

from billing.models.fields import KeyField, MicrousdField
from billing.models.wallet import Wallet
from billing.rules.budgets import BudgetScope
from gateway.core.contract.amounts import usd


class Budget(models.Model):
    """One subject's limit for a UTC calendar month. SPEC: Organization-related resources.

    `spent` is for the month that begins at `period_start`; for an older month it means 0. A disabled budget refuses no
    calls but keeps counting, so that it is correct when it is enabled again. A subject has exactly one row, which is
    never deleted.
    """

    id = KeyField(primary_key=True)
    wallet = models.ForeignKey(Wallet, models.PROTECT, related_name="budgets", db_index=False)
    scope = models.TextField(choices=[(scope.value, scope.value) for scope in BudgetScope])
    product = KeyField(null=True)
    membership_id = KeyField(null=True)
    limit_microusd = MicrousdField()
    spent_microusd = MicrousdField(db_default=0)
    held_microusd = MicrousdField(db_default=0)
    period_start = models.DateField()
    disabled_at = models.DateTimeField(null=True)
    created_at = models.DateTimeField(db_default=Now())

    class Meta:
        db_table = "billing_budget"
        constraints = [
            models.UniqueConstraint(
                fields=["wallet", "product", "membership_id"], name="budget_one_per_subject", nulls_distinct=False
            ),
        ]

    def __str__(self) -> str:
        return f"{self.scope} budget {self.id}: {usd(self.limit_microusd)} a month"
