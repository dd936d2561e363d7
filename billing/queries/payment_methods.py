"""The payment methods that owners of wallets saved."""

from django.db.models import Q, QuerySet

from billing.models import Checkout, CheckoutKind, CheckoutStatus, PaymentMethod
from billing.queries import payment_pages
from billing.rules.owners import Owner

_SAVED = Q(kind=CheckoutKind.PAYMENT_METHOD, status=CheckoutStatus.COMPLETED) | Q(
    saves_method=True, status=CheckoutStatus.PAID
)


def saved(owner: Owner, provider: str, is_live: bool) -> Checkout | None:
    """Return the checkout with which an owner last saved a payment method, unless it was removed."""
    found = all_saved(owner).filter(provider=provider, is_live=is_live)
    return found.select_related("payment_method").order_by("-created_at", "-id").first()


def all_saved(owner: Owner) -> QuerySet[Checkout]:
    """Return the checkouts that saved payment methods which were not removed."""
    kind, key = owner
    return Checkout.objects.filter(_SAVED, owner_kind=kind, owner_key=key, payment_method__removed_at=None)


def is_removed(owner: Owner, customer_ref: str) -> bool:
    """Return whether an owner removed the payment method that was saved as this customer's. Each is saved with a customer of its own."""
    kind, key = owner
    saved = Checkout.objects.filter(owner_kind=kind, owner_key=key, customer_ref=customer_ref)
    return saved.filter(payment_method__removed_at__isnull=False).exists()


def to_forget(provider: str, is_live: bool, limit: int) -> list[PaymentMethod]:
    """Return removed payment methods that the provider still has, the longest removed first."""
    rows = PaymentMethod.objects.filter(
        removed_at__isnull=False, forgotten_at=None, checkout__provider=provider, checkout__is_live=is_live
    )
    return list(rows.select_related("checkout").order_by("removed_at")[:limit])


def current(owner: Owner) -> Checkout | None:
    """Return the checkout with which an owner last saved a payment method that the configured provider can charge."""
    if not payment_pages.are_configured():
        return None
    return saved(owner, payment_pages.PROVIDER, payment_pages.mode() == "live")
