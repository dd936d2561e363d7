"""An owner's calls of a month as table rows for export."""

from collections.abc import Callable, Collection, Iterator, Mapping
from itertools import islice

from billing.queries.usage_export import QUANTITIES, iterate_calls
from billing.rules import call_labels
from billing.rules.months import Month
from billing.rules.owners import Owner
from billing.rules.usage_reports import ReportedCall
from gateway.core.api.times import rfc3339, rfc3339_or_none
from gateway.core.contract.amounts import dollars
from gateway.core.portal.csv_files import Cell

Names = Callable[[Collection[str]], Mapping[str, str]]
"""Returns members' names by membership id; ids may be missing."""

NAMED_AT_ONCE = 500
HEADER: tuple[str, ...] = (
    *("usage_id", "begun_at", "closed_at", "status", "outcome", "route", "model"),
    *("product", "membership_id", "member", "did", *QUANTITIES),
    *("max_cost_microusd", "charged_microusd", "charged_usd", "charged_in_month_microusd"),
)


def no_names(ids: Collection[str]) -> Mapping[str, str]:
    """Return no names: an account's own calls have no members."""
    return {}


def rows(owner: Owner, month: Month, names: Names = no_names) -> Iterator[tuple[Cell, ...]]:
    """Return a row of HEADER for each call that was begun or charged in the month, oldest first.

    Times are UTC (RFC 3339), amounts whole micro-USD; `charged_usd` is the charge in dollars. A quantity that was not
    metered is None.
    """
    calls = iterate_calls(owner, month)
    while batch := list(islice(calls, NAMED_AT_ONCE)):
        people = names({call.membership_id for call in batch if call.membership_id})
        yield from (_row(call, people.get(call.membership_id or "")) for call in batch)


def _row(call: ReportedCall, member: str | None) -> tuple[Cell, ...]:
    ending = call_labels.ending(
        call.state, review_reason=call.review_reason, resolution=call.resolution, basis=call.basis
    )
    return (
        *(call.usage_id, rfc3339(call.begun_at), rfc3339_or_none(call.closed_at), call_labels.STATUS[call.state]),
        *(ending.why, call.route, call.model, call.product, call.membership_id, member, call.did),
        *(call.quantities[name] for name in QUANTITIES),
        *(call.max_cost_microusd, call.charged_microusd, dollars(call.charged_microusd)),
        call.charged_in_month_microusd,
    )
