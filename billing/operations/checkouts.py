"""Start hosted checkouts, and make them and the ledger match the provider's record.

An event is only a hint; the session fetched from the provider is authoritative. The provider is never called within a
transaction or under a lock. Its response is applied under the checkout's lock, and only if no other response was
applied in the meantime.
"""

import logging
from datetime import datetime
from typing import NamedTuple, NotRequired, TypedDict, Unpack

from django.conf import settings
from django.db import IntegrityError, transaction

from billing.adapters import configured
from billing.adapters.base import PaymentProvider, ProviderError, SessionRequest
from billing.models import Checkout, CheckoutStatus, OwnerKind
from billing.operations import checkout_bookings as bookings
from billing.operations import invoices, payment_methods
from billing.operations.checkout_bookings import is_closed
from billing.queries import locked
from billing.rules import checkouts as rules
from billing.rules.owners import Owner
from billing.rules.provider_records import Reversals, Session
from gateway.core.contract.errors import Forbidden, IdempotencyKeyReused
from gateway.core.contract.ids import new_id
from gateway.core.contract.limits import OPEN_CHECKOUTS_MAX
from gateway.core.contract.route_limits import rate_limited

log = logging.getLogger("billing.checkouts")

NOT_RESPONDING = "The payment provider is not responding. Repeat the request with the same idempotencyKey."
RETRY_UNPAID_MAX_SECONDS = 3600  # a checkout may be paid or end before the oldest expires
RACES_MAX = 5


class Fetched(NamedTuple):
    """The provider's session, and the number of responses applied before the request; None: not asked. `label` describes the
    payment method that the session saved."""

    checks: int
    session: Session | None
    taken_back: Reversals | None
    label: str | None = None


class NewCheckout(TypedDict):
    """A checkout request, who made it, and the key that makes a repeated request return the same checkout."""

    kind: str
    amount_microusd: int | None
    product: str | None
    idempotency_key: str
    requested_by: str
    saves_method: NotRequired[bool]


@transaction.atomic
def begin(owner: Owner, *, now: datetime, **order: Unpack[NewCheckout]) -> tuple[Checkout, bool]:
    """Record a requested checkout; return it and whether it is new. Joins the caller's transaction.

    The same key with the same request returns the same checkout. Raises IdempotencyKeyReused if the request differs,
    RateLimited if the owner has too many unpaid checkouts, and IntegrationUnavailable without a provider. Call `place`
    next, outside any transaction.
    """
    provider = configured.require()
    terms = {
        "kind": order["kind"],
        "amount_microusd": order["amount_microusd"],
        "product": order["product"],
        "saves_method": order.get("saves_method", False),
    }
    owner_kind, owner_key = owner
    checkout, is_new = Checkout.objects.get_or_create(
        owner_kind=owner_kind,
        owner_key=owner_key,
        idempotency_key=order["idempotency_key"],
        defaults={
            **terms,
            "id": new_id("txn"),
            "requested_by": order["requested_by"],
            "provider": provider.name,
            "is_live": provider.is_live,
            "created_at": now,
            "next_check_at": now + rules.CREATING_GRACE,
        },
    )
    if any(getattr(checkout, name) != value for name, value in terms.items()):
        raise IdempotencyKeyReused(param="idempotencyKey")
    if is_new:
        _check_open(owner, now)
    return checkout, is_new


def begin_and_place(owner: Owner, *, now: datetime, **order: Unpack[NewCheckout]) -> Checkout:
    """Call `begin` in its own transaction, then `place`."""
    checkout, _ = begin(owner, now=now, **order)
    return place(checkout, now=now)


def place(checkout: Checkout, *, now: datetime) -> Checkout:
    """Create the checkout's session at the provider, at most once however often this is called, and return the checkout
    with its `url`.

    Raises IntegrationUnavailable if the provider does not respond; the request may then be repeated.
    """
    if checkout.session_ref is not None:
        return checkout
    provider = configured.require()
    try:
        session = provider.create_session(_request_for(checkout))
        return _open(checkout, provider, session, now)
    except ProviderError as error:
        placed = Checkout.objects.get(pk=checkout.id)
        if placed.session_ref is not None:  # a concurrent request stored the session
            return placed
        log.error("checkout %s: the provider did not create a session: %s", checkout.id, error)
        raise configured.unavailable(NOT_RESPONDING) from error


def converge(checkout: Checkout, *, now: datetime) -> Checkout:
    """Make the checkout and the ledger match the provider's record; repeating changes nothing.

    Raises IntegrationUnavailable or a ProviderError if the provider does not respond; nothing is changed then.
    """
    provider = configured.require()
    for _ in range(RACES_MAX):
        checkout = place(checkout, now=now)
        applied = apply(checkout.id, fetch(provider, checkout), now=now)
        if applied is not None:
            return applied
        checkout = Checkout.objects.get(pk=checkout.id)
    return checkout


def fetch(provider: PaymentProvider, checkout: Checkout) -> Fetched:
    """Fetch the provider's record of a placed checkout. Does not access the database."""
    taken_back = None
    session = None
    if checkout.status != CheckoutStatus.PAID:
        assert checkout.session_ref is not None
        session = provider.session(checkout.session_ref)
    payment_ref = session.payment_ref if session else checkout.payment_ref
    if payment_ref is not None and (session is None or session.payment_status == "paid"):
        taken_back = _taken_back(provider, checkout, payment_ref)
    label = None
    if session is not None and session.status == "complete" and (session.keeps_method or checkout.saves_method):
        label = payment_methods.describe(provider, session.ref)
    return Fetched(checkout.checks, session, taken_back, label)


@transaction.atomic
def apply(checkout_id: str, seen: Fetched, *, now: datetime) -> Checkout | None:
    """Apply the provider's record, or return None if another one was applied since it was requested."""
    checkout = locked.checkout(checkout_id)
    if checkout.checks != seen.checks:
        return None
    if seen.session is not None:
        _follow(checkout, seen.session, seen.label, now)
    if seen.taken_back is not None and checkout.status == CheckoutStatus.PAID:
        bookings.move(checkout, seen.taken_back, now)
    checkout.checks += 1
    checkout.checked_at = now
    _schedule(checkout, now)
    checkout.save()
    return checkout


def postpone(checkout_id: str, *, now: datetime) -> None:
    """Reschedule the check of a checkout after the provider gave no answer, with growing delays up to a limit."""
    with transaction.atomic():
        checkout = locked.checkout(checkout_id)
        _schedule(checkout, now)
        checkout.save(update_fields=["status", "next_check_at"])


def dismiss(checkout_id: str, *, now: datetime) -> bool:
    """End a review without crediting anything, as the operator decided; False if it is no longer in review."""
    with transaction.atomic():
        checkout = locked.checkout(checkout_id)
        if checkout.status != CheckoutStatus.REVIEW:
            return False
        checkout.status = CheckoutStatus.EXPIRED
        checkout.checks += 1
        checkout.checked_at = now
        checkout.save(update_fields=["status", "checks", "checked_at"])
    return True


def _check_open(owner: Owner, now: datetime) -> None:
    """Raise RateLimited if the owner has too many unpaid checkouts, and Forbidden if their account is closed; serialize the
    owner's checkouts.
    """
    locked.checkouts_of(owner)
    if is_closed(owner):
        raise Forbidden("The account is closed.")
    waiting = (CheckoutStatus.CREATING, CheckoutStatus.OPEN)
    begun = Checkout.objects.filter(owner_kind=owner[0], owner_key=owner[1], status__in=waiting)
    times = list(begun.order_by("created_at").values_list("created_at", flat=True)[: OPEN_CHECKOUTS_MAX + 1])
    if len(times) > OPEN_CHECKOUTS_MAX:
        wait = times[0] + rules.SESSION_MAX_AGE - now
        seconds = min(RETRY_UNPAID_MAX_SECONDS, max(1, int(wait.total_seconds())))
        raise rate_limited(owner[0], "unpaid_checkouts", seconds, "Too many unpaid checkouts are open.")


def _request_for(checkout: Checkout) -> SessionRequest:
    page = settings.PORTAL_URL + rules.return_path(checkout.owner, checkout.id)
    return SessionRequest(
        transaction_id=checkout.id,
        amount_microusd=checkout.amount_microusd,
        success_url=page,
        cancel_url=f"{page}?cancelled=1",
        saves_method=checkout.saves_method,
    )


def _open(checkout: Checkout, provider: PaymentProvider, session: Session, now: datetime) -> Checkout:
    """Store the session if none is stored yet, and return the current row."""
    if session.url is None or session.transaction_id not in (None, checkout.id):
        raise ProviderError(f"session {session.ref} is not the requested one")
    unplaced = Checkout.objects.filter(pk=checkout.id, session_ref__isnull=True)
    try:
        with transaction.atomic():
            unplaced.update(
                session_ref=session.ref,
                url=session.url,
                status=CheckoutStatus.OPEN,
                is_live=provider.is_live,
                expires_at=session.expires_at,
                next_check_at=now + rules.OPEN_INTERVAL,
            )
    except IntegrityError as error:
        raise ProviderError(f"session {session.ref} already belongs to another transaction") from error
    return Checkout.objects.get(pk=checkout.id)


def _taken_back(provider: PaymentProvider, checkout: Checkout, payment_ref: str) -> Reversals | None:
    """Fetch refunds and disputes; a payment that was just made is credited even if they are not known yet."""
    try:
        return provider.taken_back(payment_ref)
    except ProviderError as error:
        if checkout.status == CheckoutStatus.PAID:
            raise
        log.warning("checkout %s: refunds of its payment are not known yet: %s", checkout.id, error)
        return None


def _follow(checkout: Checkout, session: Session, label: str | None, now: datetime) -> None:
    if checkout.status in (CheckoutStatus.PAID, CheckoutStatus.COMPLETED):
        return
    verdict, reason = rules.judge(
        rules.ExpectedSession(checkout.id, checkout.amount_microusd, checkout.is_live), session
    )
    if _is_dismissed(checkout) and verdict is rules.CheckoutVerdict.REVIEW:
        return
    if verdict is rules.CheckoutVerdict.REVIEW and checkout.review_reason != reason:
        log.critical("checkout %s needs a decision; nothing was credited: %s", checkout.id, reason)
    is_saved = verdict is rules.CheckoutVerdict.COMPLETED or (
        verdict is rules.CheckoutVerdict.PAID and checkout.saves_method
    )
    if is_saved and checkout.owner_kind == OwnerKind.ORGANIZATION:
        # Invoices are locked before the wallet and the owner's events.
        invoices.collect_early(checkout.owner_key, now=now)
    if verdict is rules.CheckoutVerdict.PAID:
        bookings.credit(checkout, now)
    checkout.status = CheckoutStatus(verdict.value)
    checkout.review_reason = reason or checkout.review_reason
    checkout.payment_ref = session.payment_ref or checkout.payment_ref
    checkout.customer_ref = session.customer_ref or checkout.customer_ref
    if is_saved:
        checkout.save()
        payment_methods.note(checkout, label, now=now)


def _is_dismissed(checkout: Checkout) -> bool:
    return checkout.status == CheckoutStatus.EXPIRED and checkout.review_reason is not None


def _schedule(checkout: Checkout, now: datetime) -> None:
    age = now - (checkout.paid_at or checkout.created_at)
    if rules.is_given_up(checkout.status, age):
        checkout.status = CheckoutStatus.EXPIRED
    interval = rules.next_check(checkout.status, age)
    checkout.next_check_at = None if interval is None else now + interval
