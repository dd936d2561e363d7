"""What the billing app contributes to the closing of an account: no money is lost or owed, and no payment is under way."""

from collections.abc import Iterator
from datetime import datetime, timedelta

from django.db.models import Sum
from django.urls import reverse

from accounts.models import Account
from accounts.operations.closing import Obstacle, Part
from billing.models import SENT_CHARGES, Checkout, CheckoutStatus, CreditLot, StoredReplay
from billing.operations import auto_top_ups, ledger, payment_methods, replays
from billing.queries import auto_top_ups as top_ups
from billing.queries import locked, usage, wallets
from billing.rules.owners import Owner
from gateway.core.contract.amounts import usd
from gateway.core.contract.limits import CENT_MICROUSD

UNDER_WAY = (CheckoutStatus.CREATING, CheckoutStatus.OPEN, CheckoutStatus.REVIEW)
REPLAYS_AT_ONCE = 100
STORED_SINCE = timedelta(days=30)
"""Older calls have no stored response: they are settled within days, and it is kept for a day after that."""


class BillingPart(Part):
    """Refuses while there is money, a debt, an open call or a payment under way, and gives up the credits."""

    def obstacles(self, account: Account, now: datetime) -> Iterator[Obstacle]:
        owner = owner_of(account)
        wallet = wallets.view(owner, now)
        if wallet.debt_microusd:
            reason = f"You owe {usd(wallet.debt_microusd)}. Add money to repay it first."
            yield Obstacle(reason, "Open the wallet", reverse("portal_wallet"))
        yield from _of_calls(owner, wallet.held_microusd)
        left = wallet.balance_microusd + _paid_credits(owner)
        if left >= CENT_MICROUSD:
            reason = f"Your wallet has {usd(left)}. Ask the operator of this service to pay it back, or spend it first."
            yield Obstacle(reason, "Open the wallet", reverse("portal_wallet"))
        yield from _of_payments(owner)
        if top_ups.charges_of(owner).filter(status__in=SENT_CHARGES).exists():
            reason = "An automatic payment is under way. Wait until its outcome is known."
            yield Obstacle(reason, "See automatic top-up", reverse("portal_auto_top_up"))

    def credits_microusd(self, account: Account, now: datetime) -> int:
        owner = owner_of(account)
        return wallets.view(owner, now).credits_microusd - _paid_credits(owner)

    def lock(self, account: Account) -> None:
        locked.wallet(owner_of(account))
        locked.checkouts_of(owner_of(account))

    def close(self, account: Account, now: datetime) -> None:
        auto_top_ups.disable(owner_of(account), now=now)
        payment_methods.remove(owner_of(account), removed_by=account.did, now=now)
        ledger.forfeit_credits(owner=owner_of(account)).run()

    def erase(self, account: Account) -> None:
        calls = usage.of_owner(owner_of(account)).filter(created_at__gt=account.closing.closed_at - STORED_SINCE)
        kept = StoredReplay.objects.filter(call__in=calls).exclude(expires_at=None)
        while found := list(kept.values_list("pk", flat=True)[:REPLAYS_AT_ONCE]):
            replays.delete(found)


def owner_of(account: Account) -> Owner:
    """Return an account as the owner of a wallet."""
    return "account", account.did


def _of_calls(owner: Owner, held_microusd: int) -> Iterator[Obstacle]:
    path = reverse("portal_usage") + "#calls"
    if undecided := usage.undecided(owner).calls:
        reason = f"The outcome of {undecided} of your calls is not known yet. Wait until it is; that takes three days at most."
        yield Obstacle(reason, "See your calls", path)
    elif held_microusd or usage.open_calls(owner).exists():
        yield Obstacle("Calls are under way. Wait until they have ended.", "See your calls", path)


def _of_payments(owner: Owner) -> Iterator[Obstacle]:
    begun = Checkout.objects.filter(owner_kind=owner[0], owner_key=owner[1], status__in=UNDER_WAY)
    for checkout in begun.order_by("created_at"):
        path = reverse("portal_payment", args=[checkout.pk])
        if checkout.status == CheckoutStatus.REVIEW:
            reason = (
                f"The operator of this service still has to decide about a payment of {usd(checkout.amount_microusd)}."
            )
        else:
            reason = (
                f"A payment of {usd(checkout.amount_microusd)} is under way. Finish it, or wait until it ends by itself, a day "
                "after it began."
            )
        yield Obstacle(reason, "See the payment", path)


def _paid_credits(owner: Owner) -> int:
    lots = CreditLot.objects.filter(wallet__owner_kind=owner[0], wallet__owner_key=owner[1], source_kind="payment")
    return lots.filter(closed_at=None).aggregate(Sum("remaining_microusd"))["remaining_microusd__sum"] or 0
