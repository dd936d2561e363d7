"""Match the provider's balance with our payments, day by day, to find money that one side lacks.

A day's movements are read completely and stored, or the day counts as unread. Days are compared once every past day was
read, including all later movements, because our record of a payment is always current. Before an alarm, the
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
    AutoTopUpCharge,
    AutoTopUpStatus,
    Checkout,
    InvoicePayment,
    InvoicePaymentStatus,
    MatchedDay,
    ProviderMovement,
)
from billing.operations import auto_top_up_charges, checkouts, invoice_payments, payment_differences
from billing.operations.deadlines import deadline
from billing.queries import payment_matching as queries
from billing.queries.payment_matching import Books, DueDay
from billing.rules import payment_matching as rules
from billing.rules.provider_records import Movement

log = logging.getLogger("billing.payment_matching")

RUN_SECONDS = 25.0
BATCH = 500
_UNDECIDED = Q(status__in=PENDING, invoice__status__in=UNPAID)
# Such a charge may have been paid after it was refused: no other charge must be made.
_CHARGED_AGAIN = Q(status=InvoicePaymentStatus.FAILED, invoice__next_attempt_at__isnull=False)
LOOKS = 2
"""How often both sides are read again before a difference is recorded: a refund may fall between the two reads."""


def match(*, now: datetime) -> dict[str, int]:
    """Read the days that are due, and compare them once all are read; return the counts, including open differences.
    Raises a ProviderError if the provider does not respond; what was read until then stays.
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
            return _counts(done, books)
    for day in queries.unmatched(books):
        done["differences"] += _match_day(provider, books, day, now)
    done["closed"] = _close_agreed(provider, books, now)
    return _counts(done, books)


def _counts(done: dict[str, int], books: Books) -> dict[str, int]:
    return {**done, "open differences": queries.open_differences(books).count()}


def _read_day(provider: PaymentProvider, books: Books, due: DueDay) -> int:
    stored = _read(provider, books, *rules.bounds(due.day))
    row = MatchedDay(**books._asdict(), day=due.day, reading=due.reading, movements=stored)
    MatchedDay.objects.bulk_create([row], ignore_conflicts=True)
    return stored


def _read(provider: PaymentProvider, books: Books, start: datetime, end: datetime) -> int:
    """Store the movements of our payments in `[start, end)`; return how many there were."""
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
    """Return the id of a movement's payment; None if it belongs to something else that the account sells."""
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


def _close_agreed(provider: PaymentProvider, books: Books, now: datetime) -> int:
    """Close the open differences of payments on which both sides now agree; return how many."""
    ids = set(queries.open_differences(books).values_list("transaction_id", flat=True))
    differing = _differing(provider, books, ids, now)
    for one in differing:
        payment_differences.record(books, one, now=now)
    agreed = ids - {one.transaction_id for one in differing}
    return sum(payment_differences.close(books, transaction_id, now=now) for transaction_id in agreed)


def _differing(
    provider: PaymentProvider, books: Books, ids: Collection[str], now: datetime
) -> list[payment_differences.Difference]:
    """Return the payments that still differ after both sides were read again."""
    differing = payment_differences.compare(books, ids)
    for _ in range(LOOKS):
        if not differing:
            break
        until = queries.read_until(books)
        if until is not None:
            _read(provider, books, until, now)
        for one in differing:
            _converge(one.transaction_id, now)
        differing = payment_differences.compare(books, [one.transaction_id for one in differing])
    return differing


def _converge(transaction_id: str, now: datetime) -> None:
    """Make the payment match the provider's record, unless the provider refuses access to it."""
    try:
        checkout = Checkout.objects.exclude(session_ref=None).filter(pk=transaction_id).first()
        if checkout is not None:
            checkouts.converge(checkout, now=now)
        charge = AutoTopUpCharge.objects.exclude(status=AutoTopUpStatus.SUCCEEDED).filter(pk=transaction_id).first()
        if charge is not None:
            auto_top_up_charges.converge(charge, now=now)
        attempt = InvoicePayment.objects.filter(_UNDECIDED | _CHARGED_AGAIN, pk=transaction_id).first()
        if attempt is not None:
            invoice_payments.converge(attempt, now=now)
    except ProviderRejected as error:
        log.warning("payment %s cannot be looked up: %s", transaction_id, error)
