"""The prepaid wallet of one owner."""

from django.db import models
from django.db.models import F, Q
from django.db.models.functions import Now

from billing.models.fields import KeyField, MicrousdField


class OwnerKind(models.TextChoices):
    """Who can own a wallet. Billing knows an owner as this kind and an opaque key."""

    ACCOUNT = "account"
    ORGANIZATION = "organization"


class Wallet(models.Model):
    """Money of one owner: `balance` is what is there, `held` is the part of it that open calls may still spend.

    Its row lock guards everything that belongs to it: lots, budgets, and the money of open reservations. Credits are
    lots of their own. Debt (a refund of money already spent) blocks spending until a payment repays it.
    """

    id = KeyField(primary_key=True)
    owner_kind = models.TextField(choices=OwnerKind.choices)
    owner_key = KeyField()
    balance_microusd = MicrousdField(db_default=0)
    held_microusd = MicrousdField(db_default=0)
    debt_microusd = MicrousdField(db_default=0)
    created_at = models.DateTimeField(db_default=Now())

    class Meta:
        db_table = "billing_wallet"
        constraints = [
            models.UniqueConstraint(fields=["owner_kind", "owner_key"], name="wallet_one_per_owner"),
            models.CheckConstraint(condition=Q(owner_kind__in=OwnerKind.values), name="wallet_owner_kind_known"),
            models.CheckConstraint(
                condition=Q(held_microusd__gte=0, held_microusd__lte=F("balance_microusd")),
                name="wallet_holds_only_what_is_there",
            ),
            models.CheckConstraint(condition=Q(debt_microusd__gte=0), name="wallet_debt_not_negative"),
        ]

    def __str__(self) -> str:
        return f"{self.owner_kind} {self.owner_key}"
