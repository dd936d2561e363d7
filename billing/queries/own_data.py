"""What the billing app exports of a person's data: the wallet, payments, credits, budgets, and every call."""

from collections.abc import Iterator

from django.utils import timezone

from accounts.models import Account
from billing.models import AutoTopUp, AutoTopUpCharge, Checkout, CreditLot
from billing.models.call import BEGINNING
from billing.queries import budgets, usage_csv, wallets
from gateway.core.api.times import rfc3339, rfc3339_or_none
from gateway.core.portal.csv_files import Row

WALLET = ("balance_microusd", "credits_microusd", "held_microusd", "debt_microusd")
PAYMENTS = ("transaction_id", "kind", "status", "amount_microusd", "taken_back_microusd", "created_at", "paid_at")
CREDITS = ("credit_id", "product", "granted_microusd", "remaining_microusd", "created_at", "expires_at", "closed_at")
BUDGETS = ("budget_id", "app", "period", "limit_microusd", "is_on", "created_at")
AUTO_TOP_UP = ("is_on", "threshold_microusd", "amount_microusd", "monthly_limit_microusd", "paused_at", "pause_reason")
AUTO_CHARGES = ("transaction_id", "status", "amount_microusd", "failure_code", "created_at", "ended_at")
CALLS = usage_csv.HEADER[:-1]


def wallet(who: Account) -> Iterator[Row]:
    """Return the only row of WALLET."""
    found = wallets.view(("account", who.did), timezone.now())
    yield found.balance_microusd, found.credits_microusd, found.held_microusd, found.debt_microusd


def payments(who: Account) -> Iterator[Row]:
    """Return a row of PAYMENTS for each payment, oldest first."""
    found = Checkout.objects.filter(owner_kind="account", owner_key=who.did).order_by("created_at", "pk")
    for one in found:
        amounts = one.amount_microusd, one.taken_back_microusd
        yield one.pk, one.kind, one.status, *amounts, rfc3339(one.created_at), rfc3339_or_none(one.paid_at)


def auto_top_up(who: Account) -> Iterator[Row]:
    """Return the only row of AUTO_TOP_UP, if the person has ever set it."""
    for one in AutoTopUp.objects.filter(wallet__owner_kind="account", wallet__owner_key=who.did):
        amounts = one.threshold_microusd, one.amount_microusd, one.monthly_limit_microusd
        yield str(one.is_enabled).lower(), *amounts, rfc3339_or_none(one.paused_at), one.pause_reason


def auto_charges(who: Account) -> Iterator[Row]:
    """Return a row of AUTO_CHARGES for each automatic charge, oldest first."""
    found = AutoTopUpCharge.objects.filter(wallet__owner_kind="account", wallet__owner_key=who.did)
    for one in found.order_by("created_at", "pk"):
        times = rfc3339(one.created_at), rfc3339_or_none(one.ended_at)
        yield one.pk, one.status, one.amount_microusd, one.failure_code, *times


def credits(who: Account) -> Iterator[Row]:
    """Return a row of CREDITS for each credit, oldest first."""
    found = CreditLot.objects.filter(wallet__owner_kind="account", wallet__owner_key=who.did)
    for one in found.order_by("created_at", "pk"):
        times = map(rfc3339_or_none, (one.created_at, one.expires_at, one.closed_at))
        yield one.pk, one.product, one.granted_microusd, one.remaining_microusd, *times


def own_budgets(who: Account) -> Iterator[Row]:
    """Return a row of BUDGETS for each budget."""
    for one in budgets.of_owner(("account", who.did)):
        is_on = str(one.disabled_at is None).lower()
        yield one.pk, one.client_id, one.period, one.limit_microusd, is_on, rfc3339(one.created_at)


def calls(who: Account) -> Iterator[Row]:
    """Return a row of CALLS for each call, oldest first."""
    for row in usage_csv.rows(("account", who.did), (BEGINNING, timezone.now())):
        yield row[:-1]
