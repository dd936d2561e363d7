"""Every lock that billing takes from Python. Lock order: checkout, invoice, wallet, the wallet's rows; several of a
kind by ascending id."""

from datetime import datetime

from django.db import connection, transaction

from billing.models import AutoTopUpCharge, Checkout, Invoice, OwnerKind, Wallet
from billing.rules.owners import Owner
from gateway.core.contract.ids import new_id
from gateway.core.database.turns import take_turn


def wallet(owner: Owner) -> Wallet:
    """Lock the owner's wallet until the transaction ends, opening it if necessary.

    The lock also guards the wallet's lots, budgets and open calls.
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


def instant(owner: Owner) -> datetime:
    """Return the database's time at a moment when no other transaction held the owner's wallet. The lock is released at
    once.

    The ledger reads the clock under the lock: rows with earlier timestamps are committed, later rows get later ones.
    """
    with transaction.atomic():
        wallet(owner)
        time = clock()
        transaction.set_rollback(True)  # releases the lock even in a caller's transaction
    return time


def clock() -> datetime:
    """Return the database's time, the ledger's source of timestamps. A caller that holds a wallet's lock reads it as
    the ledger does."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT clock_timestamp()")
        [time] = cursor.fetchone()
    return time


def checkout(checkout_id: str) -> Checkout:
    """Lock a checkout until the transaction ends. Its wallet is locked after it, never before."""
    return Checkout.objects.select_for_update(no_key=True).get(pk=checkout_id)


def auto_top_up_charge(charge_id: str) -> AutoTopUpCharge:
    """Lock the wallet of an automatic charge until the transaction ends, which guards the charge, and return the charge."""
    wallet_id = AutoTopUpCharge.objects.values_list("wallet_id", flat=True).get(pk=charge_id)
    wallet = Wallet.objects.select_for_update(no_key=True).get(pk=wallet_id)
    charge = AutoTopUpCharge.objects.get(pk=charge_id)
    charge.wallet = wallet
    return charge


def checkouts_of(owner: Owner) -> None:
    """Wait for all other transactions that begin a checkout of the owner, and make later ones wait for this one's end."""
    take_turn("checkouts of " + "/".join(owner))


def invoice(invoice_id: str) -> Invoice:
    """Lock an invoice, and with it its payments, until the transaction ends. A wallet is locked after it."""
    return Invoice.objects.select_for_update(no_key=True).get(pk=invoice_id)
