"""Finds calls, payments, credits and what belongs to them."""

import re
from collections.abc import Iterable, Iterator

from django.contrib import admin
from django.urls import reverse

from accounts.models import Account
from billing.models import (
    AutoTopUpCharge,
    Budget,
    Call,
    CallState,
    Checkout,
    CheckoutStatus,
    CreditLot,
    Invoice,
    ProviderEvent,
    Wallet,
)
from billing.queries import found
from billing.rules.owners import Owner
from gateway.core.contract.amounts import usd
from gateway.core.telemetry.models import RequestTrace
from gateway.finding.finder import HITS_MAX, Finder, Hit
from gateway.finding.people import EMAIL, accounts_at
from organizations.models import Organization

WORD = re.compile(r"(?!did:)[!-?A-~]{4,}")
KEY_OF_OWNER = re.compile(r"\S+ [!-~]+")


def calls(text: str) -> Iterator[Hit]:
    """Find a call by its usage id, or by the id or the idempotency key of its request."""
    traced = RequestTrace.objects.filter(request_id=text).exclude(usage_id="").values_list("usage_id", flat=True)
    rows = list(Call.objects.filter(pk__in={text, *traced[:HITS_MAX]}).select_related("wallet"))
    for look_up in (found.calls_of_request, found.newest_calls):
        rows = rows or list(look_up(text).select_related("wallet")[:HITS_MAX])
    yield from _calls(rows)


def requests_without_call(text: str) -> Iterator[Hit]:
    """Find a refused request by its id, while its trace is kept. What became a call is found as that."""
    found_here = RequestTrace.objects.filter(request_id=text, usage_id="").order_by("-began_at")
    for one in found_here[:HITS_MAX] if admin.site.is_registered(RequestTrace) else ():
        page = reverse("admin:telemetry_requesttrace_change", args=[one.pk])
        owner = ("organization", one.org_id) if one.org_id else ("account", one.account) if one.account else None
        yield Hit("Request", one.request_id, page, owner, one.began_at, one.code or one.outcome)


def calls_of_owner(text: str) -> Iterator[Hit]:
    """Find a call by its owner, and the idempotency key of its request after a space."""
    who, _, key = text.partition(" ")
    for owner in _owners(who):
        yield from _calls(found.calls_of_key(key, owner).select_related("wallet")[:HITS_MAX])


def checkouts(text: str) -> Iterator[Hit]:
    """Find a payment by any id that we or the provider gave it."""
    for one in found.checkouts(text)[:HITS_MAX]:
        title = f"{usd(one.amount_microusd) or 'Payment method'} ({one.pk})"
        page = reverse("admin:billing_checkout_change", args=[one.pk])
        yield Hit("Payment", title, page, one.owner, one.created_at, CheckoutStatus(one.status).label)


def automatic_charges(text: str) -> Iterator[Hit]:
    """Find a charge of automatic top-up. One that was paid is a payment, and found as that."""
    charges = found.automatic_charges(text).exclude(status="succeeded").select_related("wallet")
    for one in charges[:HITS_MAX]:
        page = reverse("admin:billing_autotopupcharge_change", args=[one.pk])
        title = f"{usd(one.amount_microusd)} ({one.pk})"
        yield Hit("Automatic charge", title, page, owner_of(one.wallet), one.created_at, one.get_status_display())


def invoices(text: str) -> Iterator[Hit]:
    """Find an invoice by its id, or by an id of its charge or credit note."""
    yield from _invoices(found.invoices(text))


def invoices_of_number(text: str) -> Iterator[Hit]:
    """Find an invoice by its number, or by that of its credit note."""
    series, _, number = text.partition("-")
    look_up = found.invoices_of_serial if series.upper() == "INV" else found.invoices_of_credit_note
    yield from _invoices(look_up(int(number)))


def provider_events(text: str) -> Iterator[Hit]:
    """Find a provider's event that belongs to no payment here."""
    for one in found.provider_events(text).filter(checkout_id=None)[:HITS_MAX]:
        page = reverse("admin:billing_providerevent_change", args=[one.pk])
        yield Hit("Provider event", f"{one.type} ({one.event_id})", page, None, one.received_at)


def credits_of_id(text: str) -> Iterator[Hit]:
    """Find a credit by its id."""
    for one in CreditLot.objects.filter(pk=text).select_related("wallet"):
        page = reverse("admin:billing_creditlot_change", args=[one.pk])
        yield Hit("Credit", str(one), page, owner_of(one.wallet), one.created_at)


def budgets_of_id(text: str) -> Iterator[Hit]:
    """Find a budget by its id."""
    for one in Budget.objects.filter(pk=text).select_related("wallet"):
        page = reverse("admin:billing_budget_change", args=[one.pk])
        yield Hit("Budget", str(one), page, owner_of(one.wallet), one.created_at)


def wallets_of_id(text: str) -> Iterator[Hit]:
    """Find a wallet by its id."""
    for one in Wallet.objects.filter(pk=text):
        page = reverse("admin:billing_wallet_change", args=[one.pk])
        yield Hit("Wallet", one.pk, page, owner_of(one), one.created_at)


FINDERS = (
    Finder((Call,), WORD, calls),
    Finder((RequestTrace,), WORD, requests_without_call),
    Finder((Call, Account), KEY_OF_OWNER, calls_of_owner),
    Finder((Checkout,), WORD, checkouts),
    Finder((AutoTopUpCharge,), WORD, automatic_charges),
    Finder((Invoice,), WORD, invoices),
    Finder((Invoice,), re.compile(r"(INV|CN)-[0-9]{1,18}", re.IGNORECASE | re.ASCII), invoices_of_number),
    Finder((ProviderEvent,), WORD, provider_events),
    Finder((CreditLot,), re.compile(r"crd_\w+"), credits_of_id),
    Finder((Budget,), re.compile(r"bud_\w+"), budgets_of_id),
    Finder((Wallet,), re.compile(r"wal_\w+"), wallets_of_id),
)


def owner_of(wallet: Wallet) -> Owner:
    """Return whose wallet it is."""
    return wallet.owner_kind, wallet.owner_key


def _calls(rows: Iterable[Call]) -> Iterator[Hit]:
    for one in rows:
        page = reverse("admin:billing_call_change", args=[one.pk])
        about = f"{CallState(one.state).label}, {one.model}"
        yield Hit("Call", one.pk, page, owner_of(one.wallet), one.created_at, about)


def _invoices(rows: Iterable[Invoice]) -> Iterator[Hit]:
    for one in rows:
        page = reverse("admin:billing_invoice_change", args=[one.pk])
        title = f"{one}, {usd(one.total_microusd)}"
        yield Hit("Invoice", title, page, ("organization", one.org_id), one.created_at, one.get_status_display())


def _owners(who: str) -> Iterator[Owner]:
    if EMAIL.fullmatch(who):
        yield from (("account", account.did) for account in accounts_at(who))
    elif who.startswith("did:"):
        yield "account", who
    else:
        yield from (("organization", pk) for pk in Organization.objects.filter(pk=who).values_list("pk", flat=True))
