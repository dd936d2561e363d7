"""The hold and the state of a metered call."""

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
"""A query for calls in review needs this condition to use their index."""

UNDER_WAY = Q(closed_at__isnull=True, review_reason__isnull=True)
"""The calls that limits of calls at once count, by the condition of their indexes."""

BEGINNING = datetime(2000, 1, 1, tzinfo=UTC)
"""A time before any call. A query needs this lower bound to use the index of a wallet's calls by time."""


class CallState(models.TextChoices):
    """held → settled | released | reconciling; reconciling → settled | released. The column says `dispatched` for held and
    `review` for reconciling."""

    HELD = "dispatched", "Held"
    REVIEW = "review", "Reconciling"
    SETTLED = "settled"
    RELEASED = "released"


class Call(models.Model):
    """A metered call and its hold, placed before the upstream is called; its id is the call's usage id.

    `cash_held` is the part of the hold that the balance covers; the rest is `lot_amounts` of the credits `lot_ids`, in
    spending order (null if there is none). The hold stays while the call is open. A closed call is settled with a
    charge within the hold, or released. `replayable` says that the idempotency key is taken, and `request_digest`
    identifies a repeated request; `body_sha256` is the SHA-256 of the body as it was sent, null if there was none, or if an
    older version placed the hold. A call counts as sent once it has its hold; `dispatched_at` and `deadline_at` are null only if an older version released a hold that it had
    never sent. `evidence` is what is known to have been delivered: quantities and `charge_microusd`; and
    `generation_id`, the id of the upstream's own record, if it has one. `next_look_up_at` is when that record is
    requested again for a call in review, null before the first time. `token_scopes` are the scopes whose limits count the
    call's tokens; null if there are none. Only the functions of `billing/sql` write this
    table. The hot tables have no foreign keys in the database: the rows they reference are never deleted (triggers
    refuse it), and the audit looks for orphans. `billing/sql/soundness.sql` constrains the values of their rows.
    """

    id = KeyField(primary_key=True)
    wallet = models.ForeignKey(Wallet, models.PROTECT, related_name="calls", db_index=False, db_constraint=False)
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
    body_sha256 = models.BinaryField(null=True)
    replayable = models.BooleanField()
    state = models.TextField(choices=CallState.choices)
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
    token_scopes = ArrayField(KeyField(), null=True)

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
            # Partial only so that no look-up of an idempotency key can use it. Without statistics, or with those of
            # many small wallets, the planner would consider it as good as the unique index, and read every call of a
            # busy wallet.
            models.Index(
                fields=["wallet", "created_at"], name="reservation_of_wallet", condition=Q(created_at__gt=BEGINNING)
            ),
            # Only for calls of organizations: a personal wallet has only its owner's calls.
            models.Index(
                fields=["membership_id", "created_at"],
                name="reservation_of_member",
                condition=Q(membership_id__isnull=False),
            ),
            # `closed_at` changes once in a call's life, so the other transitions stay heap-only updates.
            models.Index(fields=["created_at"], name="reservation_open", condition=Q(closed_at__isnull=True)),
            # By the reason, which is set once and only for few calls: an index by state would prevent heap-only updates
            # in all other transitions.
            models.Index(fields=["created_at", "id"], name="reservation_in_review", condition=IN_REVIEW),
            # Limits of calls at once count these for each call under them.
            models.Index(fields=["wallet"], name="reservation_under_way", condition=UNDER_WAY),
            models.Index(fields=["client_id"], name="reservation_under_way_client", condition=UNDER_WAY),
            models.Index(fields=["model"], name="reservation_under_way_model", condition=UNDER_WAY),
            # Seals, reports and the audit read recently closed calls; inserting into its last pages costs almost
            # nothing. Every look-up reads page ranges without a summary, so the server summarizes each range as it
            # fills.
            BrinIndex(fields=["closed_at"], name="reservation_closed", pages_per_range=32, autosummarize=True),
        ]

    def __str__(self) -> str:
        return f"{self.id}: {self.state}"
