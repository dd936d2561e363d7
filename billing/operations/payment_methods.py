"""Note and remove saved payment methods."""

import logging
from datetime import datetime

from django.db import transaction

from billing.adapters import configured
from billing.adapters.base import PaymentProvider, ProviderError, ProviderRejected, ProviderUnavailable
from billing.models import Checkout, PaymentMethod
from billing.operations import auto_top_ups
from billing.queries import locked
from billing.queries import payment_methods as queries
from billing.rules.owners import Owner

log = logging.getLogger("billing.payment_methods")

FORGOTTEN_AT_ONCE = 20


def note(checkout: Checkout, label: str | None, *, now: datetime) -> None:
    """Note that a checkout saved a payment method, in the transaction that says so; automatic top-up goes on with it."""
    PaymentMethod.objects.get_or_create(checkout=checkout, defaults={"label": label})
    auto_top_ups.method_saved(checkout.owner, now=now)


def describe(provider: PaymentProvider, session_ref: str) -> str | None:
    """Fetch the description of the payment method that a session saved; None if it saved none, or if it is not known yet. Does not
    access the database.
    """
    try:
        method = provider.saved_method(session_ref)
        return None if method is None else provider.label_of(method.method_ref)
    except ProviderError as error:
        log.warning("the payment method of session %s is not described: %s", session_ref, error)
        return None


@transaction.atomic
def remove(owner: Owner, *, removed_by: str, now: datetime) -> int:
    """Remove all payment methods that an owner saved; return how many. None of them is charged again, except by a charge that is
    under way; a job has the provider delete them.
    """
    locked.wallet(owner)
    found = list(queries.all_saved(owner))
    for checkout in found:
        PaymentMethod.objects.update_or_create(
            checkout=checkout, defaults={"label": None, "removed_by": removed_by, "removed_at": now}
        )
    auto_top_ups.method_removed(owner, now=now)
    return len(found)


def forget_removed(*, now: datetime) -> int:
    """Have the provider delete the payment methods that were removed; return how many it has deleted."""
    provider = configured.provider()
    if provider is None:
        return 0
    count = 0
    for method in queries.to_forget(provider.name, provider.is_live, FORGOTTEN_AT_ONCE):
        try:
            _forget(provider, method.checkout)
        except ProviderUnavailable as error:
            log.warning("removed payment methods are deleted later: %s", error)
            break
        count += PaymentMethod.objects.filter(pk=method.pk, forgotten_at=None).update(forgotten_at=now)
    return count


def _forget(provider: PaymentProvider, checkout: Checkout) -> None:
    try:
        saved = provider.saved_method(str(checkout.session_ref))
        if saved is not None:
            provider.forget_method(saved.method_ref)
    except ProviderRejected as error:  # the provider does not know the session any more
        log.warning("the payment method of checkout %s cannot be deleted: %s", checkout.id, error)
