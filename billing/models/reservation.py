"""One metered call's hold on money, and the call's state."""

from datetime import UTC, datetime

from django.contrib.postgres.fields import ArrayField
from django.contrib.postgres.indexes import BrinIndex
from django.db import models
from django.db.models import Q
from django.db.models.functions import Now

from billing.models.fields import KeyField, MicrousdField
from billing.models.price_version import PriceVersion
from billing.models.wallet import Wallet

IN_REVIEW = Q(closed_at__isnull=True, review_reason__isnull=False)
"""Asking for calls in review with this lets a query use their index."""

BEGINNING = datetime(2000, 1, 1, tzinfo=UTC)
"""Before any call; asking for calls after it lets a query use the index of a wallet's calls by time."""


class State(models.TextChoices):
    """dispatched → settled | released | review; review → settled | released."""

    DISPATCHED = "dispatched"
    REVIEW = "review"
    SETTLED = "settled"
    RELEASED = "released"


class Reservation(models.Model):
    """A hold placed before the upstream is called; its id is the call's usage id.

    `cash_held` is the part of the hold that the balance covers; the rest is `lot_amounts` of the credits `lot_ids`, in the
    order of spending (null where there is none). While a call is open its hold stands; once closed it is settled with a
    charge within the hold, or released. `replayable` says that the idempotency key is taken. A call counts as sent with its hold;
    `dispatched_at` and `deadline_at` are null only where an older version released a hold that it had never sent. `evidence` is
    what is known to have been delivered: quantities and `charge_microusd`; and `generation_id`, by which the upstream's own
    record is found, where it has one. `next_look_up_at` is when the upstream's own record of a call in
    review is asked for again, null before the first time. Only the functions of `billing/sql` write this table. The
    hot tables have no foreign keys in the database; nothing that they name is ever deleted (triggers refuse it), and the
    audit looks for orphans. What their rows may say stands in `billing/sql/soundness.sql`.
    """

    id = KeyField(primary_key=True)
    wallet = models.ForeignKey(Wallet, models.PROTECT, related_name="reservations", db_index=False, db_constraint=False)
    actor_did = KeyField()
    org_id = KeyField(null=True)
    membership_id = KeyField(null=True)
    product = KeyField(null=True)
    client_id = KeyField(null=True)
    route = KeyField()
    model = KeyField()
    deployment = KeyField(null=True)
    request_id = KeyField(null=True)
    idempotency_key = KeyField(null=True)
    request_digest = models.BinaryField(null=True)
    replayable = models.BooleanField()
    state = models.TextField(choices=State.choices)
    max_cost_microusd = MicrousdField()
    hold_microusd = MicrousdField()
    cash_held_microusd = MicrousdField()
    lot_ids = ArrayField(KeyField(), null=True)
    lot_amounts_microusd = ArrayField(MicrousdField(), null=True)
    charge_microusd = MicrousdField(null=True)
    overrun_microusd = MicrousdField(db_default=0)
    price_version = models.ForeignKey(PriceVersion, models.DO_NOTHING, db_index=False, db_constraint=False)
    created_at = models.DateTimeField(db_default=Now())
    dispatched_at = models.DateTimeField(null=True)
    deadline_at = models.DateTimeField(null=True)
    closed_at = models.DateTimeField(null=True)
    review_reason = models.TextField(null=True)
    resolution = models.TextField(null=True)
    evidence = models.JSONField(null=True)
    next_look_up_at = models.DateTimeField(null=True)

    class Meta:
        db_table = "billing_reservation"
        verbose_name = "call"
        constraints = [
            models.UniqueConstraint(
                fields=["wallet", "route", "idempotency_key"],
                name="reservation_one_per_key",
                condition=Q(replayable=True),
            ),
        ]
        indexes = [
            # Partial only so that no look-up of an idempotency key can be planned on it. While statistics are missing,
            # or are those of many small wallets, the planner would take it for as good as the unique index, and read
            # every call of a busy wallet.
            models.Index(
                fields=["wallet", "created_at"], name="reservation_of_wallet", condition=Q(created_at__gt=BEGINNING)
            ),
            # Of organizations' calls alone: a person's own wallet has no other's calls among them.
            models.Index(
                fields=["membership_id", "created_at"],
                name="reservation_of_member",
                condition=Q(membership_id__isnull=False),
            ),
            # `closed_at` changes once in a call's life, so the other transitions stay heap-only updates.
            models.Index(fields=["created_at"], name="reservation_open", condition=Q(closed_at__isnull=True)),
            # By the reason, which is set once and for a few calls alone: an index by state would cost every other
            # transition its heap-only update.
            models.Index(fields=["created_at", "id"], name="reservation_in_review", condition=IN_REVIEW),
            # Seals, reports and the audit read what closed lately; an insert into its last pages costs next to nothing.
            # A range without a summary is read by every look-up, so the server is to summarize each as it fills.
            BrinIndex(fields=["closed_at"], name="reservation_closed", pages_per_range=32, autosummarize=True),
        ]

    def __str__(self) -> str:
        return f"{self.id}: {self.state}"
