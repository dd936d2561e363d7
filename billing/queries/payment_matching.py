"""Both sides of payments, and the days that are due for matching."""

from collections import defaultdict
from collections.abc import Collection
from datetime import date, datetime
from typing import NamedTuple

from django.db.models import Max, Min, Q, QuerySet, Sum
from django.db.models.functions import Coalesce

from billing.models import (
    AutoTopUpCharge,
    Checkout,
    CheckoutKind,
    CheckoutStatus,
    CreditNote,
    InvoicePayment,
    InvoicePaymentStatus,
    MatchedDay,
    PaymentDifference,
    ProviderMovement,
)
from billing.rules.payment_matching import (
    DAY,
    READINGS,
    LocalRecord,
    ProviderRecord,
    bounds,
    provider_record_of,
    reading_due,
)

_REFUNDED = Coalesce(Sum("invoice__credit_notes__amount_microusd", filter=Q(invoice__credit_notes__is_refund=True)), 0)


class Books(NamedTuple):
    """The provider and the mode of its key. Test and live payments are never compared with each other."""

    provider: str
    is_live: bool


class DueDay(NamedTuple):
    """A day to read, and which reading it is."""

    day: date
    reading: int


def due_days(books: Books, now: datetime) -> list[DueDay]:
    """List the days to read, oldest first, starting with the day of the first payment request, or a few days ago if
    there was none."""
    day = _first_day(books) or (now - READINGS[-1] - DAY).date()
    rows = MatchedDay.objects.filter(**books._asdict()).values_list("day").annotate(last=Max("reading"))
    read, found = dict(rows), []
    while reading := reading_due(day, now):
        if reading > read.get(day, 0):
            found.append(DueDay(day, reading))
        day += DAY
    return found


def unmatched(books: Books) -> QuerySet[MatchedDay]:
    """Return the days that were read and not compared yet, the oldest first."""
    return MatchedDay.objects.filter(**books._asdict(), matched_at=None).order_by("day", "reading")


def read_until(books: Books) -> datetime | None:
    """Return the end of the last day that was read."""
    last = MatchedDay.objects.filter(**books._asdict()).aggregate(last=Max("day"))["last"]
    return None if last is None else bounds(last)[1]


def moved_in(books: Books, start: datetime, end: datetime) -> set[str]:
    """Return the ids of the payments for which the provider reported movements in `[start, end)`."""
    rows = ProviderMovement.objects.filter(**books._asdict(), moved_at__gte=start, moved_at__lt=end)
    return set(rows.values_list("transaction_id", flat=True))


def booked_in(books: Books, start: datetime, end: datetime) -> set[str]:
    """Return the ids of our payments that were paid in `[start, end)` or had a refund recorded then."""
    topped_up = _checkouts(books).filter(status=CheckoutStatus.PAID, paid_at__gte=start, paid_at__lt=end)
    collected = InvoicePayment.objects.filter(**books._asdict(), status=InvoicePaymentStatus.SUCCEEDED)
    notes = CreditNote.objects.filter(is_refund=True, created_at__gte=start, created_at__lt=end)
    found = (
        topped_up,
        collected.filter(checked_at__gte=start, checked_at__lt=end),
        collected.filter(invoice__in=notes.values("invoice")),
    )
    return {transaction_id for rows in found for transaction_id in rows.values_list("pk", flat=True)}


def provider_records(books: Books, ids: Collection[str]) -> dict[str, ProviderRecord]:
    """Sum the provider's movements for each of these payments."""
    found = defaultdict(list)
    rows = ProviderMovement.objects.filter(**books._asdict(), transaction_id__in=ids).order_by("moved_at", "pk")
    for row in rows:
        found[row.transaction_id].append((row.is_payment, row.amount_microusd, row.currency, row.payment_ref))
    return {one: provider_record_of(found[one]) for one in ids}


def local_records(books: Books, ids: Collection[str]) -> dict[str, LocalRecord]:
    """Return our record of each of these payments."""
    found = dict.fromkeys(ids, LocalRecord())
    for charge_id in AutoTopUpCharge.objects.filter(**books._asdict(), pk__in=ids).values_list("pk", flat=True):
        found[charge_id] = LocalRecord(is_known=True)  # of one that is paid, the checkout says how much
    for checkout in _checkouts(books).filter(pk__in=ids):
        paid = checkout.amount_microusd or 0 if checkout.status == CheckoutStatus.PAID else 0
        found[checkout.pk] = LocalRecord(paid, paid - checkout.taken_back_microusd, is_known=True)
    for payment in InvoicePayment.objects.filter(**books._asdict(), pk__in=ids).annotate(refunded_microusd=_REFUNDED):
        is_paid = payment.status == InvoicePaymentStatus.SUCCEEDED
        paid, refunded = (payment.amount_microusd, payment.refunded_microusd) if is_paid else (0, 0)
        found[payment.pk] = LocalRecord(paid, paid - refunded, is_known=True)
    return found


def transaction_of(books: Books, payment_ref: str) -> str | None:
    """Find our payment for the provider's payment id."""
    known = {"provider": books.provider, "payment_ref": payment_ref}
    for model in (Checkout, AutoTopUpCharge, InvoicePayment):
        row = model.objects.filter(**known).first()
        if row is not None:
            return row.pk
    moved = ProviderMovement.objects.filter(**books._asdict(), payment_ref=payment_ref).first()
    return None if moved is None else moved.transaction_id


def open_differences(books: Books | None = None) -> QuerySet[PaymentDifference]:
    """Return the differences that are not closed."""
    found = PaymentDifference.objects.filter(closing=None)
    return found if books is None else found.filter(**books._asdict())


def _checkouts(books: Books) -> QuerySet[Checkout]:
    return Checkout.objects.filter(**books._asdict(), kind=CheckoutKind.TOP_UP)


def _first_day(books: Books) -> date | None:
    tables: tuple[QuerySet[Checkout] | QuerySet[AutoTopUpCharge] | QuerySet[InvoicePayment], ...] = (
        _checkouts(books),
        AutoTopUpCharge.objects.filter(**books._asdict()),
        InvoicePayment.objects.filter(**books._asdict()),
    )
    times = [rows.aggregate(first=Min("created_at"))["first"] for rows in tables]
    return min((time.date() for time in times if time is not None), default=None)
