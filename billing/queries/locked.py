"""Every lock that billing takes from Python. Order: checkout, wallet, then whatever belongs to it; several by ascending id."""

from billing.models import Checkout, OwnerKind, Wallet
from billing.rules.owners import Owner
from gateway.contract.ids import new_id


def wallet(owner: Owner) -> Wallet:
    """Lock the owner's wallet until the transaction ends, opening it where there is none.

    The lock guards the wallet's lots, budgets and open reservations too.
    """
    kind, key = owner
    wallets = Wallet.objects.select_for_update(no_key=True)
    found = wallets.filter(owner_kind=kind, owner_key=key).first()
    if found is None:
        Wallet.objects.bulk_create(
            [Wallet(id=new_id("wal"), owner_kind=OwnerKind(kind), owner_key=key)], ignore_conflicts=True
        )
        found = wallets.get(owner_kind=kind, owner_key=key)
    return found


def checkout(checkout_id: str) -> Checkout:
    """Lock a checkout until the transaction ends. Its wallet is locked after it, never before."""
    return Checkout.objects.select_for_update(no_key=True).get(pk=checkout_id)
