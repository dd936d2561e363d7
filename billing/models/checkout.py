"""One hosted checkout at a payment provider."""

from django.db import models
from django.db.models import F, Q
from django.db.models.functions import Now

from billing.models.fields import KeyField, MicrousdField
from billing.models.wallet import OwnerKind


class CheckoutKind(models.TextChoices):
    """`top_up` brings money into the wallet; `payment_method` saves one for later charges and moves no money."""

    TOP_UP = "top_up"
    PAYMENT_METHOD = "payment_method"


class CheckoutStatus(models.TextChoices):
    """creating → open → paid | completed | expired | review; expired and review → paid if it was paid as requested.

    `paid`: a top-up's money is in the ledger. `completed`: a payment method is saved. `review`: the provider's record
    differs from the request, nothing was credited, and an operator decides.
    """

    CREATING = "creating"
    OPEN = "open"
    PAID = "paid"
    COMPLETED = "completed"
    EXPIRED = "expired"
    REVIEW = "review"


class Checkout(models.Model):
    """A checkout (its id is the public `transactionId`) and its state at the provider.

    The provider's session is authoritative; `billing.operations.checkouts` makes this row and the ledger match it.
    `taken_back` is the total taken by refunds and disputes of a paid amount so far; `movements` counts its changes and
    names each change in the ledger. `is_live` is the mode of the key that the session was created with. `checks` counts
    the applied provider records: read it before calling the provider, and apply the response only if it has not
    changed. `next_check_at` is when the provider is queried again, null if nothing more can change. `saves_method`: the
    payer lets a top-up save the payment method for later charges. A paid charge of an automatic top-up has a row with the
    charge's id, too; it had no session, so its `session_ref` is that of the payment.
    """

    id = KeyField(primary_key=True)
    owner_kind = models.TextField(choices=OwnerKind.choices)
    owner_key = KeyField()
    kind = models.TextField(choices=CheckoutKind.choices)
    product = KeyField(null=True, blank=True)
    amount_microusd = MicrousdField(null=True, blank=True)
    idempotency_key = KeyField()
    requested_by = KeyField()
    saves_method = models.BooleanField(default=False, db_default=False)
    provider = KeyField()
    is_live = models.BooleanField()
    session_ref = KeyField(null=True, blank=True)
    payment_ref = KeyField(null=True, blank=True)
    customer_ref = KeyField(null=True, blank=True)
    url = models.TextField(null=True, blank=True)
    status = models.TextField(choices=CheckoutStatus.choices, default=CheckoutStatus.CREATING)
    review_reason = models.TextField(null=True, blank=True)
    taken_back_microusd = MicrousdField(default=0)
    movements = models.IntegerField(default=0)
    checks = models.IntegerField(default=0)
    created_at = models.DateTimeField(db_default=Now())
    expires_at = models.DateTimeField(null=True, blank=True)
    paid_at = models.DateTimeField(null=True, blank=True)
    checked_at = models.DateTimeField(null=True, blank=True)
    next_check_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        db_table = "billing_checkout"
        constraints = [
            models.UniqueConstraint(
                fields=["owner_kind", "owner_key", "idempotency_key"], name="checkout_one_per_owner_and_key"
            ),
            models.UniqueConstraint(fields=["provider", "session_ref"], name="checkout_one_per_session"),
            models.CheckConstraint(condition=Q(owner_kind__in=OwnerKind.values), name="checkout_owner_kind_known"),
            models.CheckConstraint(condition=Q(status__in=CheckoutStatus.values), name="checkout_status_known"),
            models.CheckConstraint(
                condition=Q(kind=CheckoutKind.TOP_UP, amount_microusd__isnull=False, amount_microusd__gt=0)
                | Q(kind=CheckoutKind.PAYMENT_METHOD, amount_microusd__isnull=True, product__isnull=True),
                name="checkout_kind_has_its_amount",
            ),
            models.CheckConstraint(
                condition=Q(status__in=[CheckoutStatus.CREATING, CheckoutStatus.EXPIRED])
                | Q(session_ref__isnull=False, url__isnull=False),
                name="checkout_session_once_created",
            ),
            models.CheckConstraint(
                condition=Q(paid_at__isnull=True) ^ Q(status=CheckoutStatus.PAID, kind=CheckoutKind.TOP_UP),
                name="checkout_paid_has_its_time",
            ),
            models.CheckConstraint(
                condition=~Q(status=CheckoutStatus.COMPLETED) | Q(kind=CheckoutKind.PAYMENT_METHOD),
                name="checkout_completed_keeps_a_method",
            ),
            models.CheckConstraint(
                condition=~Q(status=CheckoutStatus.REVIEW) | Q(review_reason__isnull=False),
                name="checkout_review_has_a_reason",
            ),
            models.CheckConstraint(
                condition=Q(taken_back_microusd=0)
                | Q(
                    status=CheckoutStatus.PAID,
                    taken_back_microusd__gt=0,
                    taken_back_microusd__lte=F("amount_microusd"),
                ),
                name="checkout_takes_back_at_most_what_was_paid",
            ),
        ]
        indexes = [
            models.Index(fields=["next_check_at"], name="checkout_due", condition=Q(next_check_at__isnull=False)),
            models.Index(fields=["payment_ref"], name="checkout_of_payment", condition=Q(payment_ref__isnull=False)),
            models.Index(fields=["-created_at"], name="checkout_newest_first"),
            models.Index(fields=["created_at"], name="checkout_in_review", condition=Q(status="review")),
            # Operators find a payment by the key of its request.
            models.Index(fields=["idempotency_key"], name="checkout_by_key"),
            models.Index(
                fields=["owner_kind", "owner_key"], name="checkout_taken_back", condition=Q(taken_back_microusd__gt=0)
            ),
        ]

    def __str__(self) -> str:
        return f"{self.id}: {self.status}"

    @property
    def is_automatic(self) -> bool:
        """Return whether it is a charge of automatic top-up, which had no session of its own."""
        return self.session_ref is not None and self.session_ref == self.payment_ref

    @property
    def owner(self) -> tuple[str, str]:
        return self.owner_kind, self.owner_key
