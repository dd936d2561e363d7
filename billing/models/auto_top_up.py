"""Automatic top-up of a wallet: its terms, and its charges of the saved payment method."""

from django.db import models
from django.db.models import F, Q
from django.db.models.functions import Now

from billing.models.fields import KeyField, MicrousdField
from billing.models.wallet import Wallet


class AutoTopUp(models.Model):
    """The terms on which a wallet is topped up. The wallet's lock guards the row, and the charges.

    Below `threshold`, `amount` is charged, and at most `monthly_limit` in a UTC month. While it is paused nothing is charged;
    `pause_reason` is the provider's code of a refusal, or one of `billing.rules.auto_top_ups`. No charge begins before
    `retry_at`. `requested_by` is the person who last set the terms.
    """

    # Without a constraint: creating one would wait for all calls, and make all later ones wait.
    wallet = models.OneToOneField(
        Wallet, models.PROTECT, primary_key=True, related_name="auto_top_up", db_constraint=False
    )
    is_enabled = models.BooleanField()
    threshold_microusd = MicrousdField()
    amount_microusd = MicrousdField()
    monthly_limit_microusd = MicrousdField()
    requested_by = KeyField()
    paused_at = models.DateTimeField(null=True, blank=True)
    pause_reason = KeyField(null=True, blank=True)
    retry_at = models.DateTimeField(null=True, blank=True)
    changed_at = models.DateTimeField(db_default=Now())

    class Meta:
        db_table = "billing_auto_top_up"
        verbose_name = "automatic top-up"
        constraints = [
            models.CheckConstraint(
                condition=Q(threshold_microusd__gt=0, amount_microusd__gt=0)
                & Q(monthly_limit_microusd__gte=F("amount_microusd")),
                name="auto_top_up_amounts",
            ),
            models.CheckConstraint(
                condition=Q(paused_at__isnull=True) ^ Q(pause_reason__isnull=False),
                name="auto_top_up_paused_for_a_reason",
            ),
        ]

    def __str__(self) -> str:
        return f"Automatic top-up of {self.wallet_id}"


class AutoTopUpStatus(models.TextChoices):
    """waiting → sending → processing | succeeded | failed | review; failed → succeeded if it was paid after all.

    `waiting` was never sent to the provider; such a row is deleted if it is not needed any more. `sending`: whether the provider has
    it is unknown. `review`: the provider's record has another amount, currency, mode or payment than requested.
    """

    WAITING = "waiting"
    SENDING = "sending"
    PROCESSING = "processing"
    REVIEW = "review"
    SUCCEEDED = "succeeded"
    FAILED = "failed"


OPEN_CHARGES = (
    AutoTopUpStatus.WAITING,
    AutoTopUpStatus.SENDING,
    AutoTopUpStatus.PROCESSING,
    AutoTopUpStatus.REVIEW,
)
"""The states in which a charge is under way. A wallet has at most one of them."""
SENT_CHARGES = OPEN_CHARGES[1:]


class AutoTopUpCharge(models.Model):
    """One off-session charge. Its id is the provider's idempotency key and, once it is paid, the id of its checkout.

    The row is committed before the provider is called, with the whole request, so that the request can be repeated exactly.
    `next_check_at` is when a job looks at it again, null once it has ended.
    """

    id = KeyField(primary_key=True)
    wallet = models.ForeignKey(Wallet, models.PROTECT, related_name="+", db_index=False, db_constraint=False)
    amount_microusd = MicrousdField()
    requested_by = KeyField()
    status = models.TextField(choices=AutoTopUpStatus.choices, default=AutoTopUpStatus.WAITING)
    provider = KeyField(null=True, blank=True)
    is_live = models.BooleanField(null=True, blank=True)
    customer_ref = KeyField(null=True, blank=True)
    method_ref = KeyField(null=True, blank=True)
    payment_ref = KeyField(null=True, blank=True)
    failure_code = models.TextField(null=True, blank=True)
    failure_reason = models.TextField(null=True, blank=True)
    created_at = models.DateTimeField(db_default=Now())
    begun_at = models.DateTimeField(null=True, blank=True)
    ended_at = models.DateTimeField(null=True, blank=True)
    checked_at = models.DateTimeField(null=True, blank=True)
    next_check_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        db_table = "billing_auto_top_up_charge"
        verbose_name = "automatic charge"
        constraints = [
            models.UniqueConstraint(
                fields=["wallet"],
                condition=Q(ended_at__isnull=True),
                name="auto_top_up_charge_one_at_a_time",
            ),
            models.UniqueConstraint(fields=["provider", "payment_ref"], name="auto_top_up_charge_one_per_payment"),
            models.CheckConstraint(
                condition=Q(status__in=AutoTopUpStatus.values), name="auto_top_up_charge_status_known"
            ),
            models.CheckConstraint(condition=Q(amount_microusd__gt=0), name="auto_top_up_charge_amount_min"),
            models.CheckConstraint(
                condition=Q(status="waiting", begun_at__isnull=True)
                | Q(
                    ~Q(status="waiting"),
                    begun_at__isnull=False,
                    provider__isnull=False,
                    is_live__isnull=False,
                    customer_ref__isnull=False,
                    method_ref__isnull=False,
                ),
                name="auto_top_up_charge_begun_with_its_request",
            ),
            models.CheckConstraint(
                condition=Q(status__in=("succeeded", "failed")) ^ Q(ended_at__isnull=True),
                name="auto_top_up_charge_ended_has_its_time",
            ),
            models.CheckConstraint(
                condition=~Q(status__in=("processing", "review", "succeeded")) | Q(payment_ref__isnull=False),
                name="auto_top_up_charge_has_its_payment",
            ),
        ]
        indexes = [
            models.Index(
                fields=["next_check_at"], name="auto_top_up_charge_due", condition=Q(next_check_at__isnull=False)
            ),
            models.Index(fields=["wallet", "ended_at"], name="auto_top_up_charge_of_month"),
        ]

    def __str__(self) -> str:
        return f"{self.id}: {self.status}"
