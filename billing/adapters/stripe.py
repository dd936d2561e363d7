"""Stripe: hosted Checkout sessions, charges of saved payment methods, and the state of their payments.

Stripe may return related objects as ids or expanded, whatever was requested, so an id is followed by another request if
its object is needed. Amounts are whole cents.
"""

import json
import re
from collections.abc import Iterator, Sequence
from contextlib import suppress
from datetime import datetime
from typing import Any

import stripe

from billing.adapters import stripe_balance
from billing.adapters.base import (
    ChargeRequest,
    Event,
    ProviderRejected,
    ProviderUnavailable,
    SessionRequest,
    SignatureInvalid,
)
from billing.adapters.stripe_records import (
    ID,
    UNREADABLE,
    Record,
    account_of,
    event_of,
    has_taken,
    label_of,
    method_of,
    microusd,
    payment_of,
    read,
    session_of,
    transaction_of,
)
from billing.adapters.stripe_requests import charged, wanted
from billing.adapters.stripe_signature import verify
from billing.rules.provider_records import (
    ConnectedAccount,
    Movement,
    Payment,
    Reversals,
    SavedMethod,
    Session,
)
from gateway.core.outbound.redaction import redacted

RETRIES_MAX = 1
PAGE_SIZE = 100
PAGES_MAX = 20
LIVE_KEY = re.compile(r"[a-z]+_live_")

# A failed refund returned the money; in any other state it has taken it or will.
RETURNED_REFUNDS = ("failed", "canceled")
# These end a payment, although its session says `complete`.
FAILED_PAYMENTS = ("canceled", "requires_payment_method")

stripe.enable_telemetry = False


class Stripe:
    """Stripe's API behind one secret key; safe to share between threads."""

    name = "stripe"

    def __init__(self, key: str, *, api_base: str, timeout_seconds: float) -> None:
        self.is_live = LIVE_KEY.match(key) is not None
        self._key = key
        self._client = stripe.StripeClient(
            key,
            base_addresses={"api": api_base},
            max_network_retries=RETRIES_MAX,
            http_client=stripe.RequestsClient(timeout=timeout_seconds),
        )

    def create_session(self, request: SessionRequest) -> Session:
        """Create the transaction's session; Stripe creates one per idempotency key, which is the transaction's id."""
        made = self._ask("post", "/v1/checkout/sessions", **wanted(request), idempotency_key=request.transaction_id)
        return read(session_of, made)

    def session(self, ref: str) -> Session:
        """Read a session; one whose payment was finally refused counts as expired."""
        record = self._get("/v1/checkout/sessions/", ref)
        found = read(session_of, record)
        waits = found.status == "complete" and found.payment_status == "unpaid" and found.payment_ref
        if waits and self._payment(str(found.payment_ref)).get("status") in FAILED_PAYMENTS:
            return read(session_of, {**record, "status": "expired"})
        return found

    def saved_method(self, ref: str) -> SavedMethod | None:
        """Read the payment method from the session's setup intent, or from the payment intent that set it up."""
        session = self._get("/v1/checkout/sessions/", ref)
        intent, path = session.get("setup_intent"), "/v1/setup_intents/"
        if intent is None:
            intent, path = session.get("payment_intent"), "/v1/payment_intents/"
        if isinstance(intent, str):
            intent = self._get(path, intent)
        return None if intent is None else read(method_of, intent)

    def label_of(self, method_ref: str) -> str | None:
        """Describe a card by its brand, its last digits and its last month."""
        return read(label_of, self._get("/v1/payment_methods/", method_ref))

    def forget_method(self, method_ref: str) -> None:
        """Detach the payment method from its customer; Stripe rejects one that is detached already."""
        if not ID.fullmatch(method_ref):
            return
        with suppress(ProviderRejected):
            self._ask("post", f"/v1/payment_methods/{method_ref}/detach")

    def charge(self, request: ChargeRequest) -> Payment:
        """Make and confirm a payment intent off-session; Stripe makes one per idempotency key, the payment's id.

        The bank's refusal is an HTTP error that names the payment intent; the intent's record contains the details. The library
        does not repeat the request: a process that was stopped meanwhile would send it after Stripe has forgotten the key.
        """
        key = request.payment_id
        try:
            made = self._ask(
                "post", "/v1/payment_intents", **charged(request), idempotency_key=key, max_network_retries=0
            )
        except ProviderRejected as refusal:
            ref = _refused_intent(refusal.__cause__)
            if ref is None:
                raise
            return self.payment(ref)
        return read(payment_of, made)

    def payment(self, ref: str) -> Payment:
        """Read a payment intent."""
        return read(payment_of, self._payment(ref))

    def find_payment(self, customer_ref: str, payment_id: str) -> Payment | None:
        """Search the customer's payment intents, newest first."""
        found = self._listed("/v1/payment_intents", customer=customer_ref)
        made = (intent for intent in found if read(transaction_of, intent) == payment_id)
        intent = next(made, None)
        return None if intent is None else read(payment_of, intent)

    def taken_back(self, payment_ref: str) -> Reversals:
        """Read the refunds and disputes of a payment intent."""
        charge = self._payment(payment_ref).get("latest_charge")
        if isinstance(charge, str):
            charge = self._get("/v1/charges/", charge)
        if charge is None:
            return Reversals(0, 0)
        return Reversals(read(self._refunded, charge), read(self._disputed, charge))

    def transaction_of(self, payment_ref: str) -> str | None:
        """Read the transaction's id from the metadata that its session set on the payment."""
        try:
            return read(transaction_of, self._payment(payment_ref))
        except ProviderRejected:
            return None

    def movements(self, start: datetime, end: datetime) -> Iterator[Movement]:
        """Read the balance transactions of charges, refunds and disputes. A restricted key needs permission to read the
        balance."""
        return stripe_balance.movements(self._ask, self._get, start, end)

    def connected_account(self, ref: str) -> ConnectedAccount | None:
        """Read a connected account; Stripe refuses access to accounts that are not connected with the platform."""
        try:
            return read(account_of, self._get("/v1/accounts/", ref))
        except ProviderRejected:
            return None

    def event(self, payload: bytes, signature: str, secrets: Sequence[str]) -> Event:
        """Verify the signature by one of the endpoint's secrets and its time, and read what the event is about."""
        verify(payload, signature, secrets)
        try:
            return event_of(json.loads(payload), is_live=self.is_live)
        except (RecursionError, *UNREADABLE) as error:
            raise SignatureInvalid(type(error).__name__) from error

    def _payment(self, payment_ref: str) -> Record:
        return self._get("/v1/payment_intents/", payment_ref)

    def _refunded(self, charge: Record) -> int:
        """Sum the valid refunds; if they cannot be listed, use the charge's own total."""
        refunded = microusd(charge.get("amount_refunded") or 0)
        if not refunded:
            return 0
        refunds = self._all_of(charge, "/v1/refunds")
        if not refunds:
            return refunded
        return sum(microusd(one["amount"]) for one in refunds if one.get("status") not in RETURNED_REFUNDS)

    def _disputed(self, charge: Record) -> int:
        dispute = charge.get("dispute")
        if not charge.get("disputed") and not dispute:
            return 0
        disputes = self._all_of(charge, "/v1/disputes")
        if not disputes and dispute:
            disputes = [self._get("/v1/disputes/", dispute) if isinstance(dispute, str) else dispute]
        return sum(microusd(one["amount"]) for one in disputes if has_taken(one))

    def _all_of(self, charge: Record, path: str) -> list[Record]:
        """List all objects that belong to a charge: those listed before a page is refused, or none if Stripe offers no
        such list."""
        found: list[Record] = []
        with suppress(ProviderRejected):
            for one in self._listed(path, charge=charge["id"]):
                found.append(one)  # noqa: PERF402 (what came before a refusal is kept)
        return found

    def _listed(self, path: str, **params: Any) -> Iterator[Record]:
        """Iterate over a list, page by page."""
        for _ in range(PAGES_MAX):
            page = self._ask("get", path, **params, limit=PAGE_SIZE)
            yield from page["data"]
            if not page.get("has_more") or not page["data"]:
                return
            params["starting_after"] = page["data"][-1]["id"]

    def _get(self, path: str, ref: str) -> dict[str, Any]:
        if not ID.fullmatch(ref):
            raise ProviderRejected(f"{path}: no id")
        return self._ask("get", path + ref)

    def _ask(self, method: str, path: str, **params: Any) -> dict[str, Any]:
        """Make a request and return the object in its response; the error's class says whether it may be repeated."""
        try:
            answer = self._client.raw_request(method, path, **params).data
        except stripe.StripeError as error:
            text = redacted(
                f"{method} {path}: {type(error).__name__} {error.http_status}: {error.user_message}", [self._key]
            )
            if _may_pass(error):
                raise ProviderUnavailable(text) from error
            raise ProviderRejected(text) from error
        except UNREADABLE as error:  # the library cannot parse a malformed error
            raise ProviderUnavailable(f"{method} {path}: invalid answer: {type(error).__name__}") from error
        if not isinstance(answer, dict):
            raise ProviderUnavailable(f"{method} {path}: the answer is not an object")
        return answer


def _may_pass(error: stripe.StripeError) -> bool:
    """Return whether repeating the request may help: there was no response, Stripe failed, or there were too many
    requests.

    A rejected key says nothing about the requested object.
    """
    if isinstance(error, stripe.IdempotencyError):
        # 409: the same request is in progress. Otherwise the key was used for another request.
        return error.http_status == 409
    status = error.http_status
    return status is None or not 400 <= status < 500 or status in (401, 409, 429)


def _refused_intent(error: BaseException | None) -> str | None:
    """Return the payment intent that a card error refers to."""
    if not isinstance(error, stripe.CardError) or not isinstance(error.json_body, dict):
        return None
    intent = (error.json_body.get("error") or {}).get("payment_intent")
    ref = intent.get("id") if isinstance(intent, dict) else intent
    return ref if isinstance(ref, str) else None
