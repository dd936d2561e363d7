"""Payments, each by a checkout that the provider says is paid, refunded or disputed."""

from datetime import datetime

from django.contrib.auth.hashers import UNUSABLE_PASSWORD_PREFIX
from django.db import connection
from django.db.models import Model
from django.utils import timezone

from accounts.models import Account
from billing.models import Checkout, CheckoutKind, CheckoutStatus
from billing.operations import checkouts
from billing.operations.checkouts import Fetched
from billing.queries import wallets
from billing.rules.checkouts import PAID_INTERVAL_MIN
from billing.rules.owners import Owner
from billing.rules.provider_records import Reversals
from gateway.core.contract.ids import new_id
from tests.factories.rows import columns, rendered

TAKE_PAYMENT = """
WITH account AS (
    INSERT INTO accounts_account ({account})
    SELECT {account} FROM json_populate_recordset(NULL::accounts_account, %(accounts)s)),
paid AS (
    INSERT INTO billing_checkout SELECT * FROM json_populate_recordset(NULL::billing_checkout, %(checkout)s)
    RETURNING *)
SELECT t.outcome
  FROM paid p, billing_take_payment(p.owner_kind, p.owner_key, p.product, p.amount_microusd, p.id, %(lot_id)s) t
"""


def top_up(owner: Owner, amount: int, product: str | None = None) -> Checkout:
    """Create a paid checkout of an owner, as `checkouts.apply` leaves it, and its payment, in one statement."""
    checkout = _paid(owner, amount, product, timezone.now())
    _take(checkout)
    return checkout


def make_payer(did: str, amount: int) -> None:
    """Make an account that signs in only through its product, and top it up, in one statement."""
    account = Account(did=did, password=UNUSABLE_PASSWORD_PREFIX)
    _take(_paid(("account", did), amount, None, timezone.now()), account)


def _take(checkout: Checkout, *accounts: Model) -> None:
    rows = {"accounts": rendered(*accounts), "checkout": rendered(checkout), "lot_id": new_id("crd")}
    with connection.cursor() as cursor:
        cursor.execute(TAKE_PAYMENT.format(account=columns(Account)), rows)
        assert cursor.fetchall() == [("credited",)]


def take_back(checkout: Checkout, total: int) -> Checkout:
    """Set how much of a payment is refunded or disputed in total by the provider's record."""
    checkout.refresh_from_db()
    return _apply(checkout, Fetched(checkout.checks, None, Reversals(total, 0)))


def refund(owner: Owner, amount: int) -> int:
    """Refund that much of an owner's payments, the newest first, and return how much of it became a debt."""
    debt = wallets.view(owner, timezone.now()).debt_microusd
    left = amount
    paid = Checkout.objects.filter(owner_kind=owner[0], owner_key=owner[1], status=CheckoutStatus.PAID, product=None)
    for checkout in paid.order_by("-created_at", "-id"):
        part = min(left, (checkout.amount_microusd or 0) - checkout.taken_back_microusd)
        take_back(checkout, checkout.taken_back_microusd + part)
        left -= part
    assert left == 0, "more than was ever paid"
    return wallets.view(owner, timezone.now()).debt_microusd - debt


def _apply(checkout: Checkout, seen: Fetched) -> Checkout:
    applied = checkouts.apply(checkout.id, seen, now=timezone.now())
    assert applied is not None
    assert applied.status == "paid"
    return applied


def _paid(owner: Owner, amount: int, product: str | None, now: datetime) -> Checkout:
    checkout_id = new_id("txn")
    return Checkout(
        id=checkout_id,
        owner_kind=owner[0],
        owner_key=owner[1],
        kind=CheckoutKind.TOP_UP,
        product=product,
        amount_microusd=amount,
        idempotency_key=checkout_id,
        requested_by=owner[1],
        provider="elsewhere",
        is_live=False,
        session_ref=f"cs_{checkout_id}",
        payment_ref=new_id("pi"),
        url="https://pay.example",
        status=CheckoutStatus.PAID,
        checks=1,
        created_at=now,
        paid_at=now,
        checked_at=now,
        next_check_at=now + PAID_INTERVAL_MIN,
    )
