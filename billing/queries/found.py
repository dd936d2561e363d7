"""Finds calls and payments by one thing that a support person has in hand.

Each look-up reads a point or a short range of an index, however many calls there are. Unlike other queries these are not scoped to
an owner: only the operators' console may use them.
"""

from collections.abc import Iterable

from django.db.models import Q, QuerySet

from billing.models import (
    AutoTopUpCharge,
    Call,
    Checkout,
    CreditNote,
    Invoice,
    InvoicePayment,
    ProviderEvent,
    ProviderMovement,
    Wallet,
)
from billing.rules.owners import Owner
from gateway.core.contract.aliases import Route
from gateway.core.contract.ids import first_id_of_time, milliseconds_of

PROVIDERS = ("stripe",)
"""The names of the payment providers: their ids are unique only with it, and indexed after it."""

HELD_WITHIN_MILLISECONDS = 60_000
"""How long after its request's id the id of a call is made at the most."""
CLOCKS_DIFFER_MILLISECONDS = 5_000
NEWEST_CALLS = 20_000
"""The calls that are searched for an id that a client chose, which no index has: a hot table's index costs every call."""


def calls_of_request(request_id: str) -> QuerySet[Call]:
    """Find the calls of a request by an id that the gateway made: it says when, and so do the ids of calls."""
    made_at = milliseconds_of(request_id)
    if made_at is None:
        return Call.objects.none()
    first = first_id_of_time("use", max(made_at - CLOCKS_DIFFER_MILLISECONDS, 0))
    end = first_id_of_time("use", made_at + HELD_WITHIN_MILLISECONDS)
    return Call.objects.filter(id__gte=first, id__lt=end, request_id=request_id)


def calls_of_key(idempotency_key: str, owner: Owner) -> QuerySet[Call]:
    """Find an owner's calls with an idempotency key, by the index that keeps keys unique."""
    wallets = Wallet.objects.filter(owner_kind=owner[0], owner_key=owner[1])
    wallet = wallets.values_list("pk", flat=True).first()
    return Call.objects.filter(wallet=wallet, route__in=[*Route], idempotency_key=idempotency_key, replayable=True)


def newest_calls(text: str) -> QuerySet[Call]:
    """Find, among the newest calls, those whose request had an id or an idempotency key that its client chose."""
    calls = Call.objects.filter(Q(request_id=text) | Q(idempotency_key=text))
    bound = Call.objects.order_by("-id").values_list("id", flat=True)[NEWEST_CALLS : NEWEST_CALLS + 1]
    return calls.filter(id__gt=next(iter(bound), ""))


def checkouts(text: str) -> QuerySet[Checkout]:
    """Find checkouts by our id, their key, their session or payment at the provider, or a refund of it."""
    events = ProviderEvent.objects.filter(Q(object_ref=text) | Q(provider__in=PROVIDERS, event_id=text))
    ids = {text, *_named(events.values_list("checkout_id", "transaction_id")), *_moved(text)}
    refs = {text, *_named(events.values_list("payment_ref"))}
    return Checkout.objects.filter(
        Q(id__in=ids)
        | Q(idempotency_key=text)
        | Q(provider__in=PROVIDERS, session_ref=text)
        | Q(payment_ref__in=refs, payment_ref__isnull=False)
    )


def automatic_charges(text: str) -> QuerySet[AutoTopUpCharge]:
    """Find charges of automatic top-up by our id or the provider's; those that were paid are found as checkouts, too."""
    return AutoTopUpCharge.objects.filter(Q(id=text) | Q(provider__in=PROVIDERS, payment_ref=text))


def invoices(text: str) -> QuerySet[Invoice]:
    """Find invoices by our id, a charge's id here or at the provider, or a credit note's id."""
    payments = InvoicePayment.objects.filter(
        Q(id__in={text, *_moved(text)}) | Q(provider__in=PROVIDERS, payment_ref=text)
    )
    notes = CreditNote.objects.filter(id=text)
    ids = {text, *_named(payments.values_list("invoice")), *_named(notes.values_list("invoice"))}
    return Invoice.objects.filter(id__in=ids)


def invoices_of_serial(serial: int) -> QuerySet[Invoice]:
    """Find the invoice with a number."""
    return Invoice.objects.filter(serial=serial)


def invoices_of_credit_note(serial: int) -> QuerySet[Invoice]:
    """Find the invoice that a credit note with a number corrects."""
    return Invoice.objects.filter(id__in=CreditNote.objects.filter(serial=serial).values("invoice"))


def provider_events(text: str) -> QuerySet[ProviderEvent]:
    """Find a provider's events by their id or that of their object."""
    return ProviderEvent.objects.filter(Q(object_ref=text) | Q(provider__in=PROVIDERS, event_id=text))


def _moved(text: str) -> Iterable[str]:
    """Return our ids of the payments that a movement of the provider's balance belongs to."""
    found = ProviderMovement.objects.filter(provider__in=PROVIDERS, ref=text)
    return _named(found.values_list("transaction_id"))


def _named(rows: Iterable[tuple[str | None, ...]]) -> Iterable[str]:
    return [name for row in rows for name in row if name]
