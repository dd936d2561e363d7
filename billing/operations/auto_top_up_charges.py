"""Send the charges of automatic top-up, and make them and the ledger match the provider's record.

A charge is committed with its whole request before the provider is called, and its id is the provider's idempotency key. Once
it was sent, the provider is asked first, and the request is repeated only if it has no such charge and the owner still wants it. The
provider is never called within a transaction or under a lock; `auto_top_up_bookings` applies its record.

A run leases the charges that it asks about, by `next_check_at`. The lease may end while it waits for the provider: two runs then send
one request with one key, which is charged once. What must not happen is that one gives a charge up while the other sends it.
"""

import logging
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime, timedelta
from functools import partial
from typing import NamedTuple

from django.db import transaction

from billing.adapters import configured
from billing.adapters.base import ChargeRequest, PaymentProvider, ProviderError, ProviderUnavailable
from billing.models import (
    OPEN_CHARGES,
    SENT_CHARGES,
    AutoTopUp,
    AutoTopUpCharge,
    AutoTopUpStatus,
    Checkout,
)
from billing.operations import auto_top_up_bookings, auto_top_ups
from billing.operations.chunks import chunks
from billing.operations.deadlines import deadline
from billing.operations.off_session import SEND_SECONDS, record_of
from billing.queries import auto_top_ups as queries
from billing.queries import locked, payment_methods
from billing.rules import auto_top_ups as rules
from billing.rules import charges
from billing.rules.provider_records import Payment, SavedMethod

log = logging.getLogger("billing.auto_top_ups")

AT_ONCE = 8
ROWS_MAX = 800
RUN_SECONDS = 25.0
MAY_ARRIVE = timedelta(minutes=10)
"""How long after its first attempt a request may still reach the provider; many times SEND_SECONDS and the timeout of a request.
The provider is asked twice, so long after the request and so long after that, so that a clock that jumps once gives nothing up."""

DESCRIPTION = "Automatic wallet top-up"


class Unsent(NamedTuple):
    """A charge that was never sent, and the checkout that saved its owner's payment method, if one is saved."""

    charge: AutoTopUpCharge
    saved: Checkout | None


class Sent(NamedTuple):
    """A charge that this process looks up now, or sends if `may_send`; a new one was never sent. `lease` is the `next_check_at`
    that keeps other runs from it, and `is_late` whether it was taken too long ago to be sent."""

    charge: AutoTopUpCharge
    is_new: bool
    may_send: bool
    is_late: Callable[[], bool]
    lease: datetime | None = None


class Missing(ProviderUnavailable):
    """The provider has no such charge, which may still arrive."""


def send_all(*, now: datetime) -> dict[str, int]:
    """Send the charges that are due, and look up those whose outcome is unknown; return how many ended in which way."""
    provider = configured.provider()
    if provider is None:
        return {}
    is_over = deadline(RUN_SECONDS)
    ended = {"succeeded": 0, "failed": 0}
    with ThreadPoolExecutor(AT_ONCE) as pool:
        for rows in chunks(queries.due(provider.name, provider.is_live, now, ROWS_MAX), AT_ONCE):
            sent = _claimed(provider, pool, rows, now, deadline(SEND_SECONDS))
            records = list(pool.map(partial(_ask, provider, now), sent))
            for one, record in zip(sent, records, strict=True):
                status = _take(one, record, now)
                if status in ended:
                    ended[status] += 1
            if is_over() or (records and all(_is_away(each) for each in records)):
                break
    return ended


def converge(charge: AutoTopUpCharge, *, now: datetime) -> None:
    """Make a charge that was sent and the ledger match the provider's record; repeating changes nothing. If there is none, the job
    decides what follows.

    Raises IntegrationUnavailable or a ProviderError if the provider does not respond; nothing is changed then.
    """
    if charge.begun_at is None:
        return
    record = _ask(configured.require(), now, Sent(charge, False, False, deadline(SEND_SECONDS)))
    if isinstance(record, Exception) and not isinstance(record, Missing):
        raise record
    if isinstance(record, Payment):
        auto_top_up_bookings.apply(charge.id, record, now=now)


def _claimed(
    provider: PaymentProvider,
    pool: ThreadPoolExecutor,
    rows: Sequence[AutoTopUpCharge],
    now: datetime,
    is_late: Callable[[], bool],
) -> list[Sent]:
    """Take the charges that are still due for this run, so that no other run takes them for a while."""
    unsent = [_unsent(charge) for charge in rows if charge.status == AutoTopUpStatus.WAITING]
    methods = pool.map(partial(_method, provider), unsent)
    begun = [_begun(provider, one, method, now) for one, method in zip(unsent, methods, strict=True)]
    new = [Sent(charge, True, True, is_late, charge.next_check_at) for charge in begun if charge is not None]
    known = [_known(charge, now, is_late) for charge in rows if charge.status != AutoTopUpStatus.WAITING]
    return [*new, *(sent for sent in known if _is_taken(sent))]


def _known(charge: AutoTopUpCharge, now: datetime, is_late: Callable[[], bool]) -> Sent:
    age = now - (charge.begun_at or now)
    may_send = charge.status in OPEN_CHARGES and age <= charges.KEY_LIFETIME and _is_repeated(charge, now)
    return Sent(charge, False, may_send, is_late, now + charges.next_check(age))


def _unsent(charge: AutoTopUpCharge) -> Unsent:
    return Unsent(charge, payment_methods.current((charge.wallet.owner_kind, charge.wallet.owner_key)))


def _method(provider: PaymentProvider, unsent: Unsent) -> SavedMethod | ProviderError | None:
    """Read the saved payment method from the provider. Does not access the database."""
    if unsent.saved is None:
        return None
    try:
        return provider.saved_method(str(unsent.saved.session_ref))
    except ProviderError as error:
        return error


def _is_taken(sent: Sent) -> bool:
    """Lease the charge, if no other run has since it was read. What may be sent again is missing no more."""
    due = AutoTopUpCharge.objects.filter(
        pk=sent.charge.pk, status__in=SENT_CHARGES, next_check_at=sent.charge.next_check_at
    )
    is_found = sent.charge.payment_ref is not None
    changed = {"checked_at": None} if sent.may_send and not is_found else {}
    return bool(due.update(next_check_at=sent.lease, **changed))


def _begun(
    provider: PaymentProvider, unsent: Unsent, method: SavedMethod | ProviderError | None, now: datetime
) -> AutoTopUpCharge | None:
    """Commit the request of a charge that was never sent, or delete it if it is not needed any more; None: it is not to be sent."""
    if isinstance(method, ProviderUnavailable):
        log.warning("automatic charge %s will be sent later: %s", unsent.charge.id, method)
        _put_off(unsent.charge, now)
        return None
    try:
        return _begin(provider, unsent, method, now)
    except AutoTopUpCharge.DoesNotExist:  # it was deleted meanwhile
        return None
    except Exception:
        log.exception("automatic charge %s could not be begun", unsent.charge.id)
        _put_off(unsent.charge, now)
        return None


@transaction.atomic
def _begin(
    provider: PaymentProvider, unsent: Unsent, method: SavedMethod | ProviderError | None, now: datetime
) -> AutoTopUpCharge | None:
    charge = locked.auto_top_up_charge(unsent.charge.id)
    if charge.status != AutoTopUpStatus.WAITING or _unsent(charge).saved != unsent.saved:
        return None
    if not _is_needed(charge, now):
        charge.delete()
        return None
    if not isinstance(method, SavedMethod):
        log.error("automatic charge %s has no payment method: %s", charge.id, method)
        reason = rules.NO_METHOD if method is None else charges.REJECTED
        auto_top_ups.stop(charge.wallet, reason, now)  # and that deletes the charge
        auto_top_ups.tell(charge.wallet, "auto_top_up.paused", now, reason=reason)
        return None
    charge.status, charge.begun_at = AutoTopUpStatus.SENDING, now
    charge.next_check_at = now + charges.CHECK_MIN
    charge.provider, charge.is_live = provider.name, provider.is_live
    charge.customer_ref, charge.method_ref = method.customer_ref, method.method_ref
    charge.save()
    return charge


def _is_needed(charge: AutoTopUpCharge, now: datetime) -> bool:
    """Return whether a charge is still wanted and allowed. Puts off the charges of owners who must not be charged."""
    if _is_blocked(charge):
        AutoTopUp.objects.filter(pk=charge.wallet_id).update(retry_at=now + rules.BLOCKED_FOR)
    return _is_wanted(charge, now)


def _is_blocked(charge: AutoTopUpCharge) -> bool:
    return queries.is_blocked((charge.wallet.owner_kind, charge.wallet.owner_key))


def _is_wanted(charge: AutoTopUpCharge, now: datetime) -> bool:
    """Return whether the terms of this moment allow a charge that the provider does not have yet."""
    terms = AutoTopUp.objects.get(pk=charge.wallet_id)
    return (
        not _is_blocked(charge)
        and terms.is_enabled
        and terms.paused_at is None
        and queries.worth_microusd(charge.wallet_id, now) < terms.threshold_microusd
        and queries.used_microusd(charge.wallet_id, now) <= terms.monthly_limit_microusd
    )


def _is_repeated(charge: AutoTopUpCharge, now: datetime) -> bool:
    """Return whether a request that was lost is still wanted. Its method may have been removed, and another one saved since."""
    owner = charge.wallet.owner_kind, charge.wallet.owner_key
    return _is_wanted(charge, now) and not payment_methods.is_removed(owner, str(charge.customer_ref))


def _put_off(charge: AutoTopUpCharge, now: datetime) -> None:
    later = now + charges.next_check(now - charge.created_at)
    AutoTopUpCharge.objects.filter(pk=charge.pk, status=AutoTopUpStatus.WAITING).update(next_check_at=later)


def _ask(provider: PaymentProvider, now: datetime, sent: Sent) -> Payment | str | Exception:
    """Look up a charge at the provider, making it if there is none and it is wanted. Does not access the database."""
    charge = sent.charge
    assert charge.begun_at is not None
    request = ChargeRequest(
        payment_id=charge.id,
        amount_microusd=charge.amount_microusd,
        customer_ref=str(charge.customer_ref),
        method_ref=str(charge.method_ref),
        description=DESCRIPTION,
    )
    age, ref = now - charge.begun_at if sent.may_send else None, charge.payment_ref
    try:
        record = record_of(provider, request, ref, is_new=sent.is_new, age=age, is_late=sent.is_late)
        if record == charges.NEVER_MADE and not _is_given_up(charge, now):
            raise Missing("the provider has none, but it may still arrive")
        return record
    except Exception as error:
        if not isinstance(error, ProviderError):
            log.exception("could not ask the provider about automatic charge %s", charge.id)
        return error


def _is_given_up(charge: AutoTopUpCharge, now: datetime) -> bool:
    """Return whether a charge that the provider does not have was missing before, long enough ago."""
    return charge.checked_at is not None and now - charge.checked_at >= MAY_ARRIVE


def _miss(sent: Sent, now: datetime) -> None:
    """Note when a charge was first missing that should have arrived by now, unless another run has taken it meanwhile."""
    charge = sent.charge
    is_first = charge.checked_at is None or charge.checked_at > now  # the clock was set back
    if is_first and charge.begun_at is not None and now - charge.begun_at >= MAY_ARRIVE:
        leased = AutoTopUpCharge.objects.filter(pk=charge.pk, status=AutoTopUpStatus.SENDING, next_check_at=sent.lease)
        leased.update(checked_at=now, next_check_at=now + MAY_ARRIVE)


def _is_away(record: Payment | str | Exception) -> bool:
    return isinstance(record, ProviderUnavailable) and not isinstance(record, Missing)


def _take(sent: Sent, record: Payment | str | Exception, now: datetime) -> str | None:
    """Apply the answer about a charge, and return its status; None if it will be asked about later."""
    charge = sent.charge
    if isinstance(record, Missing):
        _miss(sent, now)
    if isinstance(record, Exception):
        log.warning("automatic charge %s will be checked later: %s", charge.id, record)
        return None
    try:
        return auto_top_up_bookings.apply(charge.id, record, now=now, lease=sent.lease).status
    except Exception:
        log.exception("automatic charge %s could not be compared", charge.id)
        return None
