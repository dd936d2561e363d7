"""One metered call's hold on money, and the call's state."""

from django.db import models
from django.db.models import F, Q
from django.db.models.functions import Now

from billing.models.fields import KeyField, MicrousdField
from billing.models.price_version import PriceVersion
from billing.models.wallet import Wallet


class State(models.TextChoices):
    """reserved → dispatched → settled | released | review; review → settled | released; reserved → released."""

    RESERVED = "reserved"
    DISPATCHED = "dispatched"
    REVIEW = "review"
    SETTLED = "settled"
    RELEASED = "released"


class Reservation(models.Model):
    """A hold placed before the upstream is called; its id is the call's usage id.

    `cash_held` is the part of the hold that the balance covers, the rest is in lot allocations. While a call is open
    its hold stands; once closed it is settled with a charge within the hold, or released. `replayable` says that the
    idempotency key is taken. `evidence` is what is known to have been delivered: quantities and `charge_microusd`.
    Only the functions of `billing/sql` write this table.
    """

    id = KeyField(primary_key=True)
    wallet = models.ForeignKey(Wallet, models.PROTECT, related_name="reservations", db_index=False)
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
    charge_microusd = MicrousdField(null=True)
    overrun_microusd = MicrousdField(db_default=0)
    # No foreign key: its row lock would be shared by every call in flight, and prices are never deleted.
    price_version = models.ForeignKey(PriceVersion, models.DO_NOTHING, db_index=False, db_constraint=False)
    created_at = models.DateTimeField(db_default=Now())
    dispatched_at = models.DateTimeField(null=True)
    deadline_at = models.DateTimeField(null=True)
    closed_at = models.DateTimeField(null=True)
    review_reason = models.TextField(null=True)
    resolution = models.TextField(null=True)
    evidence = models.JSONField(null=True)

    class Meta:
        db_table = "billing_reservation"
        constraints = [
            models.UniqueConstraint(
                fields=["wallet", "route", "idempotency_key"],
                name="reservation_one_per_key",
                condition=Q(replayable=True),
            ),
            models.CheckConstraint(condition=Q(state__in=State.values), name="reservation_state_known"),
            models.CheckConstraint(
                condition=Q(hold_microusd__gte=0, hold_microusd__lte=F("max_cost_microusd")),
                name="reservation_hold_within_max_cost",
            ),
            models.CheckConstraint(
                condition=Q(cash_held_microusd__gte=0, cash_held_microusd__lte=F("hold_microusd")),
                name="reservation_cash_within_hold",
            ),
            models.CheckConstraint(
                condition=Q(
                    state="settled",
                    charge_microusd__isnull=False,
                    charge_microusd__gte=0,
                    charge_microusd__lte=F("hold_microusd"),
                )
                | (~Q(state="settled") & Q(charge_microusd__isnull=True)),
                name="reservation_charge_within_hold",
            ),
            models.CheckConstraint(
                condition=Q(overrun_microusd=0)
                | Q(overrun_microusd__gt=0, charge_microusd__isnull=False, charge_microusd=F("hold_microusd")),
                name="reservation_overrun_beyond_hold",
            ),
            models.CheckConstraint(
                condition=Q(state__in=["settled", "released"], closed_at__isnull=False)
                | (~Q(state__in=["settled", "released"]) & Q(closed_at__isnull=True)),
                name="reservation_closed_when_final",
            ),
            models.CheckConstraint(
                condition=~Q(state__in=["dispatched", "review"])
                | Q(dispatched_at__isnull=False, deadline_at__isnull=False),
                name="reservation_dispatched_has_deadline",
            ),
            models.CheckConstraint(
                condition=Q(replayable=False)
                | (~Q(state="released") & Q(idempotency_key__isnull=False, request_digest__isnull=False)),
                name="reservation_key_taken_unless_released",
            ),
        ]
        indexes = [
            models.Index(fields=["wallet", "created_at"], name="reservation_of_wallet"),
            # `closed_at` changes once in a call's life, so the other transitions stay heap-only updates.
            models.Index(fields=["created_at"], name="reservation_open", condition=Q(closed_at__isnull=True)),
        ]

    def __str__(self) -> str:
        return f"{self.id}: {self.state}"
