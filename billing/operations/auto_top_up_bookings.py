"""Apply the provider's records of the charges of automatic top-up, under the wallet's lock.

A charge that was paid becomes a paid checkout with the same id, so refunds and disputes, matching and the audit treat it like any
other payment.
"""

import logging
from datetime import datetime

from django.db import transaction

from billing.models import (
    SENT_CHARGES,
    AutoTopUpCharge,
    AutoTopUpStatus,
    Checkout,
    CheckoutKind,
    CheckoutStatus,
)
from billing.operations import auto_top_ups, ledger, wallets
from billing.operations.checkout_bookings import is_closed
from billing.queries import locked
from billing.rules import charges
from billing.rules.auto_top_ups import OPERATOR
from billing.rules.checkouts import PAID_INTERVAL_MIN
from billing.rules.provider_records import Payment

log = logging.getLogger("billing.auto_top_ups")


@transaction.atomic
def apply(charge_id: str, record: Payment | str, *, now: datetime, lease: datetime | None = None) -> AutoTopUpCharge:
    """Apply the provider's record. If there is none, `record` is a code and the charge failed; but if it says that it was never
    made, nothing changes unless `lease` is still the charge's: another run may have sent it meanwhile.

    A charge that failed and was paid after all is booked: the money has arrived.
    """
    charge = locked.auto_top_up_charge(charge_id)
    if charge.status == AutoTopUpStatus.SUCCEEDED:
        return charge
    if isinstance(record, str):
        is_open = charge.status in SENT_CHARGES
        if is_open and (record != charges.NEVER_MADE or charge.next_check_at == lease):
            _fail(charge, record, None, now)
        return charge
    expected = charges.Charge(charge.id, charge.amount_microusd, bool(charge.is_live))
    age = now - (charge.begun_at or charge.created_at)
    verdict, fault = charges.judge(expected, record, age)
    charge.payment_ref = charge.payment_ref or record.ref
    charge.checked_at = now
    if verdict is charges.ChargeVerdict.SUCCEEDED:
        _succeed(charge, record, now)
    elif charge.status in SENT_CHARGES:
        _follow(charge, record, verdict, fault, now)
    return charge


@transaction.atomic
def dismiss(charge_id: str, *, now: datetime) -> bool:
    """End the review of a charge without a credit, and pause its wallet's automatic top-up until an operator resumes it; return False if
    it is not in review. If the provider's record agrees later, the charge is booked all the same.
    """
    charge = locked.auto_top_up_charge(charge_id)
    if charge.status != AutoTopUpStatus.REVIEW:
        return False
    charge.status, charge.ended_at, charge.next_check_at = AutoTopUpStatus.FAILED, now, None
    charge.failure_code = charges.DISMISSED
    charge.save()
    if auto_top_ups.stop(charge.wallet, OPERATOR, now):
        auto_top_ups.tell(charge.wallet, "auto_top_up.paused", now, reason=OPERATOR)
    return True


def _succeed(charge: AutoTopUpCharge, record: Payment, now: datetime) -> None:
    """Book a charge that was paid: as a paid checkout, once."""
    if charge.status == AutoTopUpStatus.FAILED:
        log.warning("automatic charge %s failed, and was paid after all", charge.id)
    # The month in which it ends says where it counts, and the clock of this process may be slow.
    charge.status, charge.ended_at = AutoTopUpStatus.SUCCEEDED, max(now, charge.begun_at or now)
    charge.next_check_at = None
    charge.failure_code = charge.failure_reason = None
    charge.save()
    wallet = charge.wallet
    owner = wallet.owner_kind, wallet.owner_key
    _check_out(charge, record, now)
    payment = wallets.take_payment(*owner, amount_microusd=charge.amount_microusd, source=charge.id)
    if payment.outcome == "conflict":
        raise RuntimeError(f"the ledger has another payment of {charge.id}")
    if is_closed(owner):
        log.critical(
            "automatic charge %s was paid after its account was closed; pay it back at the provider", charge.id
        )
    ledger.begin_auto_top_up(wallet_id=wallet.pk, now=now).run()
    auto_top_ups.tell(
        wallet, "auto_top_up.charged", now, amountMicrousd=charge.amount_microusd, transactionId=charge.id
    )


def _check_out(charge: AutoTopUpCharge, record: Payment, now: datetime) -> None:
    Checkout.objects.create(
        id=charge.id,
        owner_kind=charge.wallet.owner_kind,
        owner_key=charge.wallet.owner_key,
        kind=CheckoutKind.TOP_UP,
        amount_microusd=charge.amount_microusd,
        idempotency_key=f"automatic · {charge.id}",  # no client's key has such a character
        requested_by=charge.requested_by,
        provider=str(charge.provider),
        is_live=bool(charge.is_live),
        session_ref=record.ref,
        payment_ref=record.ref,
        customer_ref=charge.customer_ref,
        url="",
        status=CheckoutStatus.PAID,
        created_at=charge.created_at,
        paid_at=now,
        checked_at=now,
        next_check_at=now + PAID_INTERVAL_MIN,
    )


def _follow(
    charge: AutoTopUpCharge, record: Payment, verdict: charges.ChargeVerdict, fault: str | None, now: datetime
) -> None:
    """Apply the record of a charge that is not paid."""
    if verdict is charges.ChargeVerdict.FAILED:
        _fail(charge, charges.failure_of(record), record.failure_reason, now)
        return
    if fault and charge.failure_reason != fault:
        log.critical("automatic charge %s needs a decision; nothing was credited: %s", charge.id, fault)
    charge.status, charge.failure_reason = AutoTopUpStatus(verdict.value), fault
    charge.next_check_at = now + charges.next_check(now - (charge.begun_at or charge.created_at))
    charge.save()


def _fail(charge: AutoTopUpCharge, code: str, reason: str | None, now: datetime) -> None:
    """End a charge, pause what was refused, and tell the owner. A charge that was never made is no refusal."""
    charge.status, charge.ended_at, charge.next_check_at = AutoTopUpStatus.FAILED, now, None
    charge.failure_code, charge.failure_reason = code, reason
    charge.save()
    if code == charges.NEVER_MADE:
        return
    auto_top_ups.stop(charge.wallet, code, now)
    needs_authentication = code == charges.AUTHENTICATION_REQUIRED
    about = {"reason": code, "amountMicrousd": charge.amount_microusd, "transactionId": charge.id}
    auto_top_ups.tell(
        charge.wallet, f"auto_top_up.{'action_required' if needs_authentication else 'paused'}", now, **about
    )
