"""Reads the platform's balance at Stripe: the balance transactions of payments.

A balance transaction's source is the object that moved the money: a charge, a refund or a dispute. Fees, payouts,
transfers and top-ups of the balance have another source, or none, and concern no payment. Amounts are in the balance's
currency; if that differs from the payment's, they are the source's.
"""

from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from functools import partial
from typing import Any

from billing.adapters.base import ProviderUnavailable
from billing.adapters.stripe_records import Record, microusd, read, ref_of, text, transaction_of
from billing.rules.provider_records import Movement

LIST = "/v1/balance_transactions"
PAGE_SIZE = 100
SOURCES = {
    "ch": "/v1/charges/",
    "py": "/v1/charges/",
    "re": "/v1/refunds/",
    "pyr": "/v1/refunds/",
    "du": "/v1/disputes/",
    "dp": "/v1/disputes/",
}
"""The API path of a source by the prefix of its id."""
MOVERS = ("charge", "refund", "dispute")

Ask = Callable[..., dict[str, Any]]


def movements(ask: Ask, get: Ask, start: datetime, end: datetime) -> Iterator[Movement]:
    """Read all movements in `[start, end)`; raise rather than return a part."""
    within = {"gte": int(start.timestamp()), "lt": int(end.timestamp())}
    for record in _whole(ask, created=within, expand=["data.source"]):
        source = read(lambda one: one["source"], record)
        if isinstance(source, str):
            source = _fetched(get, source)
        movement = None if source is None else read(partial(_movement, source), record)
        if movement is not None:
            yield movement


def _whole(ask: Ask, **params: Any) -> Iterator[Record]:
    """Iterate over the whole list, or raise ProviderUnavailable."""
    last = None
    while True:
        page = ask("get", LIST, **params, limit=PAGE_SIZE)
        rows, has_more, final = read(_page, page)
        yield from rows
        if not has_more:
            return
        if final is None or final == last:
            raise ProviderUnavailable(f"{LIST}: the list goes on, but gives no next page")
        params["starting_after"] = last = final


def _page(page: Record) -> tuple[list[Record], bool, str | None]:
    rows, has_more = page["data"], page["has_more"]
    if not isinstance(rows, list) or not isinstance(has_more, bool):
        raise TypeError("a list expected")
    return rows, has_more, text(rows[-1]["id"]) if rows else None


def _fetched(get: Ask, ref: str) -> Record | None:
    path = SOURCES.get(ref.partition("_")[0])
    return None if path is None else get(path, ref)


def _movement(source: Record, record: Record) -> Movement | None:
    kind, cents = text(source["object"]), record["amount"]
    if kind not in MOVERS or cents == 0:
        return None
    is_converted = text(record["currency"]) != text(source["currency"])
    moved = microusd(source["amount"] if is_converted else abs(cents))
    is_charge = kind == "charge"
    return Movement(
        ref=text(record["id"]),
        is_payment=is_charge and cents > 0,
        amount_microusd=moved if cents > 0 else -moved,
        currency=text(source["currency"]).lower(),
        moved_at=datetime.fromtimestamp(record["created"], UTC),
        payment_ref=ref_of(source.get("payment_intent")),
        transaction_id=transaction_of(source) if is_charge else None,
    )
