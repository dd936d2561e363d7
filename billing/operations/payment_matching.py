"""Match the provider's balance with our payments, day by day, so that money that one side lacks is found.

A day's movements are read to their end and stored, or the day counts as not read. They are compared once every day that
is over was read, with everything that moved since, because our record of a payment is current. Before an alarm the
provider is asked about the payment, as the other jobs do: a payment that was only delayed by a lost event is updated
and is not a difference.
"""

import logging
from collections.abc import Collection
from datetime import datetime
from itertools import islice

from django.db.models import Q

from billing.adapters import configured
from billing.adapters.base import PaymentProvider, ProviderRejected
from billing.models import (
    PENDING,
    UNPAID,
    Checkout,
    InvoicePayment,
    InvoicePaymentStatus,
    MatchedDay,
    ProviderMovement,
)
from billing.operations import checkouts, invoice_payments, payment_differences
from billing.operations.deadlines import deadline
from billing.queries import payment_matching as queries
from billing.queries.payment_matching import Books, DueDay
from billing.rules import payment_matching as rules
from billing.rules.provider_records import Movement

log = logging.getLogger("billing.payment_matching")

RUN_SECONDS = 25.0
BATCH = 500
_UNDECIDED = Q(status__in=PENDING, invoice__status__in=UNPAID)
# Such a charge may have been paid after it was refused: another one must not be made.
_CHARGED_AGAIN = Q(status=InvoicePaymentStatus.FAILED, invoice__next_attempt_at__isnull=False)
LOOKS = 2
"""How often both sides are read again before a difference is one: a refund may be made between the two."""


def match(*, now: datetime) -> dict[str, int]:
    """Read the days that are due, and compare once none is left; return what was done, and how many differences are
    open. Raises a ProviderError where the provider does not answer; what was read until then stays.
    """
    provider = configured.provider()
    if provider is None:
        return {}
    books, is_over = Books(provider.name, provider.is_live), deadline(RUN_SECONDS)
    done = {"days": 0, "movements": 0, "differences": 0, "closed": 0}
    for due in queries.due_days(books, now):
        done["days"] += 1
        done["movements"] += _read_day(provider, books, due)
        if is_over():
            return _told(done, books)
    for day in queries.unmatched(books):
        done["differences"] += _match_day(provider, books, day, now)
    done["closed"] = _look_again(provider, books, now)
    return _told(done, books)


def _told(done: dict[str, int], books: Books) -> dict[str, int]:
    return {**done, "open differences": queries.open_differences(books).count()}


def _read_day(provider: PaymentProvider, books: Books, due: DueDay) -> int:
    stored = _read(provider, books, *rules.bounds(due.day))
    row = MatchedDay(**books._asdict(), day=due.day, reading=due.reading, movements=stored)
    MatchedDay.objects.bulk_create([row], ignore_conflicts=True)
    return stored


def _read(provider: PaymentProvider, books: Books, start: datetime, end: datetime) -> int:
    """Store what moved in `[start, end)` by payments of ours; return how many movements that were."""
    stored, known = 0, dict[str, str | None]()
    moved = provider.movements(start, end)
    while movements := list(islice(moved, BATCH)):
        named = [(_transaction_of(provider, books, one, known), one) for one in movements]
        rows = [_row(books, transaction_id, one) for transaction_id, one in named if transaction_id]
        ProviderMovement.objects.bulk_create(rows, ignore_conflicts=True)
        stored += len(rows)
    return stored


def _row(books: Books, transaction_id: str, movement: Movement) -> ProviderMovement:
    return ProviderMovement(
        **books._asdict(),
        ref=movement.ref,
        transaction_id=transaction_id,
        payment_ref=movement.payment_ref,
        is_payment=movement.is_payment,
        amount_microusd=movement.amount_microusd,
        currency=movement.currency,
        moved_at=movement.moved_at,
    )


def _transaction_of(
    provider: PaymentProvider, books: Books, movement: Movement, known: dict[str, str | None]
) -> str | None:
    """Name our transaction of a movement; None where it is of something else that the account sells."""
    named, ref = movement.transaction_id, movement.payment_ref
    if named is not None and rules.OURS.fullmatch(named):
        return named
    if ref is None:
        return None
    if ref not in known:
        found = queries.transaction_of(books, ref)
        if found is None and not movement.is_payment:
            found = provider.transaction_of(ref)
        known[ref] = found if found is not None and rules.OURS.fullmatch(found) else None
    return known[ref]


def _match_day(provider: PaymentProvider, books: Books, day: MatchedDay, now: datetime) -> int:
    start, end = rules.bounds(day.day)
    ids = queries.moved_in(books, start, end)
    ids |= queries.booked_in(books, start - rules.CLOCKS, end - rules.CLOCKS)
    differing = _differing(provider, books, ids, now)
    found = sum(payment_differences.record(books, one, now=now) for one in differing)
    MatchedDay.objects.filter(pk=day.pk, matched_at=None).update(matched_at=now)
    return found


def _look_again(provider: PaymentProvider, books: Books, now: datetime) -> int:
    """Close the open differences of payments that both sides agree on by now; return how many."""
    ids = set(queries.open_differences(books).values_list("transaction_id", flat=True))
    differing = _differing(provider, books, ids, now)
    for one in differing:
        payment_differences.record(books, one, now=now)
    agreed = ids - {one.transaction_id for one in differing}
    return sum(payment_differences.close(books, transaction_id, now=now) for transaction_id in agreed)


def _differing(
    provider: PaymentProvider, books: Books, ids: Collection[str], now: datetime
) -> list[payment_differences.Found]:
    """Return the payments that still differ after everything was asked again."""
    differing = payment_differences.among(books, ids)
    for _ in range(LOOKS):
        if not differing:
            break
        until = queries.read_until(books)
        if until is not None:
            _read(provider, books, until, now)
        for one in differing:
            _converge(one.transaction_id, now)
        differing = payment_differences.among(books, [one.transaction_id for one in differing])
    return differing


def _converge(transaction_id: str, now: datetime) -> None:
    """Make the payment match the provider's record; one that the provider refuses to show stays as it is."""
    try:
        checkout = Checkout.objects.exclude(session_ref=None).filter(pk=transaction_id).first()
        if checkout is not None:
            checkouts.converge(checkout, now=now)
        attempt = InvoicePayment.objects.filter(_UNDECIDED | _CHARGED_AGAIN, pk=transaction_id).first()
        if attempt is not None:
            invoice_payments.converge(attempt, now=now)
    except ProviderRejected as error:
        log.warning("payment %s cannot be asked about: %s", transaction_id, error)
