"""The prepaid wallet of one owner."""

from django.db import models
from django.db.models import Q
from django.db.models.functions import Now

from billing.models.fields import KeyField, MicrousdField
from gateway.core.contract.limits import LOW_BALANCE_MICROUSD


class OwnerKind(models.TextChoices):
    """The kinds of wallet owners. Billing identifies an owner by this kind and an opaque key."""

    ACCOUNT = "account"
    ORGANIZATION = "organization"


class Wallet(models.Model):
    """Money of one owner: `balance` is the amount in it, `held` the part of it that open calls may still spend.

    Its row lock guards everything that belongs to it: lots, budgets and holds. Credits are separate lots. Debt (a
    refund of money already spent) blocks spending until a payment repays it. `has_budgets` is set with the wallet's first budget.

    `low_balance` is the owner's threshold for alerts, 0 for none. `alert_below` is the worth below which the next alert is
    recorded (billing/sql/alerts.sql); null: none is due before the wallet has money again.
    `top_up_below` is the worth below which an automatic top-up is due (billing/sql/auto_top_up.sql); null: none is.
    While `is_suspended` is set, nothing is held from it or charged into it automatically: its organization is suspended. It says so
    here because each hold reads this row anyway.
    """

    id = KeyField(primary_key=True)
    owner_kind = models.TextField(choices=OwnerKind.choices)
    owner_key = KeyField()
    balance_microusd = MicrousdField(db_default=0)
    held_microusd = MicrousdField(db_default=0)
    debt_microusd = MicrousdField(db_default=0)
    has_budgets = models.BooleanField(db_default=False)
    low_balance_microusd = MicrousdField(db_default=LOW_BALANCE_MICROUSD)
    alert_below_microusd = MicrousdField(null=True)
    top_up_below_microusd = MicrousdField(null=True)
    is_suspended = models.BooleanField(db_default=False)
    created_at = models.DateTimeField(db_default=Now())

    class Meta:
        db_table = "billing_wallet"
        constraints = [models.UniqueConstraint(fields=["owner_kind", "owner_key"], name="wallet_one_per_owner")]
        # A debt changes rarely, so all other changes of a wallet stay heap-only updates.
        indexes = [models.Index(fields=["debt_microusd"], name="wallet_in_debt", condition=Q(debt_microusd__gt=0))]

    def __str__(self) -> str:
        return f"{self.owner_kind} {self.owner_key}"
