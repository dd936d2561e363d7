"""Open wallets, and post payments, refunds and disputes to them."""

from django.db import transaction

from billing.models import Wallet
from billing.operations import ledger
from billing.queries import locked
from gateway.core.contract.ids import new_id


@transaction.atomic
def ensure(owner_kind: str, owner_key: str) -> Wallet:
    """Return the owner's wallet, opening it if necessary."""
    return locked.wallet((owner_kind, owner_key))


def set_suspended(owner_kind: str, owner_key: str, *, is_suspended: bool) -> None:
    """Have a wallet spend nothing, or end that. Joins the caller's transaction. The lock orders it with holds: whichever comes after it
    is refused."""
    wallet = locked.wallet((owner_kind, owner_key))
    wallet.is_suspended = is_suspended
    wallet.save(update_fields=["is_suspended"])


def take_payment(
    owner_kind: str, owner_key: str, *, amount_microusd: int, source: str, product: str | None = None
) -> ledger.Payment:
    """Credit money that its provider confirmed, once per source (the transaction's id). A debt is repaid first.

    With `product`, the rest becomes a credit for that product that does not expire, otherwise balance.
    """
    return ledger.take_payment(
        owner=(owner_kind, owner_key),
        amount_microusd=amount_microusd,
        source=source,
        product=product,
        lot_id=new_id("crd"),
    ).run()


def take_back(
    owner_kind: str, owner_key: str, *, amount_microusd: int, source: str, payment: str | None = None
) -> ledger.Refund:
    """Post a refund or a dispute, once per source: available money is taken, the rest becomes a debt.

    With `payment` (the transaction that brought the money in), its own credit is used before the balance.
    """
    return ledger.take_back(
        owner=(owner_kind, owner_key), amount_microusd=amount_microusd, source=source, payment=payment
    ).run()


def give_back(
    owner_kind: str, owner_key: str, *, amount_microusd: int, source: str, payment: str, product: str | None = None
) -> ledger.Payment:
    """Undo part of a refund or dispute of a payment, once per source, because the refund failed or the dispute was won.

    A debt is repaid first. The rest returns to where it was taken from; the product's credit gets at most what was
    taken from it.
    """
    return ledger.give_back(
        owner=(owner_kind, owner_key),
        amount_microusd=amount_microusd,
        source=source,
        payment=payment,
        product=product,
        lot_id=new_id("crd"),
    ).run()
