"""Book the money of checkouts, under their lock: what was paid, and what refunds and disputes took of it."""

import logging
from datetime import datetime

from accounts.queries import accounts
from billing.models import Checkout, OwnerKind
from billing.operations import auto_top_ups, payment_events, wallets
from billing.rules import checkouts as rules
from billing.rules.owners import Owner
from billing.rules.provider_records import Reversals

log = logging.getLogger("billing.checkouts")


def is_closed(owner: Owner) -> bool:
    """Return whether the owner is an account that was closed."""
    return owner[0] == OwnerKind.ACCOUNT and accounts.is_closed(owner[1])


def credit(checkout: Checkout, now: datetime) -> None:
    """Credit a checkout that was paid as requested, once."""
    assert checkout.amount_microusd is not None
    payment = wallets.take_payment(
        *checkout.owner, amount_microusd=checkout.amount_microusd, source=checkout.id, product=checkout.product
    )
    if payment.outcome == "conflict":
        raise RuntimeError(f"the ledger has another payment of {checkout.id}")
    payment_events.received(checkout, now)
    checkout.paid_at = now
    if is_closed(checkout.owner):
        log.critical("checkout %s was paid after its account was closed; pay it back at the provider", checkout.id)


def move(checkout: Checkout, taken: Reversals, now: datetime) -> None:
    """Post what refunds and disputes took, or returned, since the last time."""
    assert checkout.amount_microusd is not None
    if taken.total_microusd > checkout.amount_microusd:
        log.error("checkout %s: %d micro-USD were taken back, more than was paid", checkout.id, taken.total_microusd)
    change = rules.change_of(taken.total_microusd, checkout.taken_back_microusd, checkout.amount_microusd)
    if change == 0:
        return
    checkout.movements += 1
    checkout.taken_back_microusd += change
    source = f"{checkout.id}/{checkout.movements}"
    if change > 0:
        auto_top_ups.payment_taken_back(checkout.owner, now=now)
        done = wallets.take_back(*checkout.owner, amount_microusd=change, source=source, payment=checkout.id).outcome
    else:
        done = wallets.give_back(
            *checkout.owner, amount_microusd=-change, source=source, payment=checkout.id, product=checkout.product
        ).outcome
    if done not in ("taken", "credited"):
        raise RuntimeError(f"the ledger has another movement {source}")
