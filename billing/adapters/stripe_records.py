"""Reads Stripe's objects. Reading an object without the shape that every valid one has raises an error of
`UNREADABLE`."""

import re
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from typing import Any, TypeVar

from billing.adapters.base import Event, ProviderUnavailable
from billing.rules.provider_records import ConnectedAccount, Payment, SavedMethod, Session
from gateway.core.contract.limits import CENT_MICROUSD
from gateway.core.contract.names import shows_as_written

ID = re.compile(r"[A-Za-z0-9_]{1,255}")
LINE_MAX_CHARACTERS = 255
REASON_MAX_CHARACTERS = 500
TRANSACTION = "transaction_id"

# The types, by prefix, of the events that may concern a checkout; disputes are `charge.dispute.…`.
RELEVANT = ("checkout.session.", "payment_intent.", "charge.", "refund.")
# A won dispute returned the money, one that ended in a refund counts as a refund, and an inquiry has taken nothing yet.
HARMLESS_DISPUTES = ("won", "charge_refunded")
INQUIRY = "warning_"
PREVENTED = "prevented"
# Whether a session of this mode saves a payment method; no other mode is ever requested.
MODES = {"payment": False, "setup": True}

UNREADABLE = (AttributeError, KeyError, TypeError, ValueError, OverflowError)

Record = Mapping[str, Any]
Answer = TypeVar("Answer")


def read(reader: Callable[[Any], Answer], record: Record) -> Answer:
    """Read a record, or raise ProviderUnavailable if it lacks what every valid one has."""
    try:
        return reader(record)
    except UNREADABLE as error:
        raise ProviderUnavailable(f"invalid answer: {type(error).__name__} {error}") from error


def session_of(record: Record) -> Session:
    """Read a checkout session."""
    amount, expires_at = record.get("amount_total"), record.get("expires_at")
    currency = record.get("currency")
    return Session(
        ref=text(record["id"]),
        url=record.get("url"),
        status=text(record["status"]),
        payment_status=text(record["payment_status"]),
        keeps_method=MODES[record["mode"]],
        amount_microusd=None if amount is None else microusd(amount),
        currency=None if currency is None else text(currency).lower(),
        is_live=record["livemode"] is True,
        transaction_id=transaction_of(record) or record.get("client_reference_id"),
        payment_ref=ref_of(record.get("payment_intent")),
        customer_ref=ref_of(record.get("customer")),
        expires_at=None if expires_at is None else datetime.fromtimestamp(expires_at, UTC),
    )


def payment_of(record: Record) -> Payment:
    """Read a payment intent. The code is the bank's reason if it gave one, otherwise Stripe's."""
    error = record.get("last_payment_error") or {}
    code, reason = error.get("decline_code") or error.get("code"), error.get("message")
    return Payment(
        ref=text(record["id"]),
        status=text(record["status"]),
        amount_microusd=microusd(record["amount"]),
        received_microusd=microusd(record.get("amount_received") or 0),
        currency=text(record["currency"]).lower(),
        is_live=record["livemode"] is True,
        transaction_id=transaction_of(record),
        failure_code=None if code is None else _line(code),
        failure_reason=None if reason is None else text(reason)[:REASON_MAX_CHARACTERS],
    )


def method_of(record: Record) -> SavedMethod | None:
    """Read the payment method that a setup intent, or a payment intent, saved; None if it has not succeeded."""
    customer, method = ref_of(record.get("customer")), ref_of(record.get("payment_method"))
    if record["status"] != "succeeded" or customer is None or method is None:
        return None
    return SavedMethod(customer, method)


def label_of(record: Record) -> str | None:
    """Describe a payment method; None if it is no card, or one without the usual members."""
    card = record.get("card")
    if not isinstance(card, Mapping):
        return None
    brand, last = _line(card["brand"]).replace("_", " "), _line(card["last4"])
    return f"{brand[0].upper()}{brand[1:]} ending in {last}, {int(card['exp_month']):02}/{int(card['exp_year'])}"


def event_of(record: Record, *, is_live: bool) -> Event:
    """Read which object an event is about, with only the references that may be ours. An event of a connected account
    (`account`), or of the other mode, is not relevant.
    """
    about, kind = record["data"]["object"], _line(record["type"])
    ref = _own(text(about.get("id") or "-")) or "-"
    return Event(
        event_id=_line(record["id"]),
        type=kind,
        object_ref=ref,
        payment_ref=ref if about.get("object") == "payment_intent" else _own(ref_of(about.get("payment_intent"))),
        transaction_id=_own(ref_of(about.get("client_reference_id")) or transaction_of(about)),
        is_relevant=kind.startswith(RELEVANT)
        and not record.get("account")
        and record.get("livemode", is_live) == is_live,
    )


def _line(value: Any) -> str:
    """Read a short line of text that is safe to log."""
    if not shows_as_written(text(value)) or not 0 < len(value) <= LINE_MAX_CHARACTERS:
        raise TypeError("not a short line of text")
    return str(value)


def _own(ref: str | None) -> str | None:
    """Return a reference that may be one of ours; other objects of the account may have any name."""
    return ref if ref is not None and ID.fullmatch(ref) else None


def account_of(record: Record) -> ConnectedAccount:
    """Read a connected account."""
    return ConnectedAccount(
        ref=text(record["id"]),
        charges_enabled=record["charges_enabled"] is True,
        details_submitted=record["details_submitted"] is True,
        metadata={name: str(value) for name, value in (record.get("metadata") or {}).items()},
    )


def has_taken(dispute: Record) -> bool:
    """Return whether a dispute has taken its money."""
    status = text(dispute["status"])
    if status in HARMLESS_DISPUTES or status.startswith(INQUIRY):
        return False
    moved = dispute.get("balance_transactions")
    if moved:
        return sum(one["amount"] for one in moved) < 0
    return status != PREVENTED


def transaction_of(record: Record) -> str | None:
    """Read the transaction's id that a session set on the object."""
    return ref_of((record.get("metadata") or {}).get(TRANSACTION))


def ref_of(value: Any) -> str | None:
    """Read a reference: an id, or an expanded object's id."""
    if value is None or value == "":
        return None
    return text(value["id"] if isinstance(value, Mapping) else value)


def text(value: Any) -> str:
    """Read text that the database accepts."""
    if not isinstance(value, str) or "\x00" in value:
        raise TypeError("text expected")
    return value


def microusd(cents: Any) -> int:
    """Turn whole cents into micro-USD."""
    if isinstance(cents, bool) or not isinstance(cents, int) or cents < 0:
        raise TypeError("cents expected")
    return cents * CENT_MICROUSD
