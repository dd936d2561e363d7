"""Resolve checkouts whose provider record differs from the request. Each is resolved once."""

from datetime import datetime, timedelta

from django.db import transaction

from billing.adapters import configured
from billing.models import Checkout, CheckoutStatus
from billing.operations import checkouts, wallets
from billing.queries import locked
from billing.rules import checkout_reviews as rules
from billing.rules.checkouts import ExpectedSession, next_check
from billing.rules.provider_records import Session


class NotCreditable(Exception):
    """No payment can be credited. The text tells the operator why."""


def credit(checkout_id: str, *, now: datetime) -> int | None:
    """Credit the amount that the provider says was paid, not the requested one, and return it in micro-USD. Return None
    if the checkout is no longer in review, or changed while the provider was asked. Raises NotCreditable unless the
    payment was made in US dollars and in the requested mode, and the same errors as
    `billing.operations.checkouts.converge` if the provider does not respond.
    """
    checkout = Checkout.objects.get(pk=checkout_id)
    if checkout.status != CheckoutStatus.REVIEW:
        return None
    seen = checkouts.fetch(configured.require(), checkout)
    session = seen.session
    assert session is not None
    fault = rules.fault_of(ExpectedSession(checkout.id, checkout.amount_microusd, checkout.is_live), session)
    if fault:
        raise NotCreditable(fault)
    return _credit(checkout_id, session, seen.checks, now)


@transaction.atomic
def _credit(checkout_id: str, session: Session, checks: int, now: datetime) -> int | None:
    checkout = locked.checkout(checkout_id)
    if checkout.status != CheckoutStatus.REVIEW or checkout.checks != checks:
        return None
    assert session.amount_microusd is not None
    payment = wallets.take_payment(
        *checkout.owner, amount_microusd=session.amount_microusd, source=checkout.id, product=checkout.product
    )
    if payment.outcome != "credited":
        raise RuntimeError(f"the ledger has another payment of {checkout.id}")
    interval = next_check(CheckoutStatus.PAID, timedelta(0))
    assert interval is not None
    checkout.amount_microusd = session.amount_microusd
    checkout.status = CheckoutStatus.PAID
    checkout.payment_ref = session.payment_ref or checkout.payment_ref
    checkout.customer_ref = session.customer_ref or checkout.customer_ref
    checkout.checks += 1
    checkout.paid_at = checkout.checked_at = now
    checkout.next_check_at = now + interval
    checkout.save()
    return checkout.amount_microusd
