"""The ledger: balanced, append-only transfers."""

from django.contrib.postgres.indexes import BrinIndex
from django.db import models
from django.db.models.functions import Now

from billing.models.fields import KeyField, MicrousdField
from billing.models.wallet import Wallet
from gateway.core.contract.amounts import usd


class Transfer(models.Model):
    """Moves an amount from one account to another. Never changed.

    Money leaves `debit_account` and enters `credit_account`. Accounts are `wallet:<id>`, `debt:<wallet id>`,
    `lot:<id>` and the platform's own: `platform:payments`, `platform:grants`, `platform:revenue`, `platform:expired`.
    `(kind, source, seq)` makes each posting happen exactly once; triggers refuse UPDATE and DELETE.
    """

    id = models.BigAutoField(primary_key=True)
    kind = models.TextField()
    source = KeyField()
    seq = models.SmallIntegerField(db_default=0)
    debit_account = KeyField()
    credit_account = KeyField()
    amount_microusd = MicrousdField()
    wallet = models.ForeignKey(Wallet, models.PROTECT, related_name="transfers", db_index=False, db_constraint=False)
    created_at = models.DateTimeField(db_default=Now())

    class Meta:
        db_table = "billing_transfer"
        verbose_name = "ledger entry"
        verbose_name_plural = "ledger"
        constraints = [models.UniqueConstraint(fields=["source", "kind", "seq"], name="transfer_posted_once")]
        indexes = [
            models.Index(fields=["wallet", "created_at"], name="transfer_of_wallet"),
            BrinIndex(fields=["created_at"], name="transfer_by_time", pages_per_range=32),
        ]

    def __str__(self) -> str:
        return f"{self.kind} {self.source}: {usd(self.amount_microusd)}"
