"""Every call of an owner's UTC month, page by page, for an export."""

from collections.abc import Iterator
from typing import Any

from django.db.models import Q, QuerySet

from billing.models import Call, CallState
from billing.models.call import BEGINNING
from billing.queries.usage_facts import begun_since, wallet_id
from billing.rules.months import Month
from billing.rules.owners import Owner
from billing.rules.usage_reports import ReportedCall

PAGE = 1000

QUANTITIES = (
    "input_tokens",
    "cached_input_tokens",
    "cache_write_tokens",
    "output_tokens",
    "input_audio_tokens",
    "output_audio_tokens",
    "images",
    "input_characters",
    "input_bytes",
    "items",
    "seconds",
)


def iterate_calls(owner: Owner, month: Month, *, page: int = PAGE) -> Iterator[ReportedCall]:
    """Return the calls that were begun or charged in `[start, end)`, oldest first, reading `page` calls at a time.

    Released calls and open calls are included. The sum of `charged_in_month_microusd` equals the charges in the month's
    reports. Each page is read at a different instant.
    """
    wallet = wallet_id(owner)
    if wallet is None:
        return
    start, end = month
    calls = Call.objects.filter(wallet_id=wallet, created_at__gt=BEGINNING, created_at__lt=end)
    for found in (_late(calls, owner, month), calls.filter(created_at__gte=start)):
        for call in _one_by_one(found, page):
            yield _reported(call, month)


def _late(calls: "QuerySet[Call]", owner: Owner, month: Month) -> "QuerySet[Call]":
    """Find the calls that began before the month and were charged in it."""
    start, end = month
    since = begun_since(owner, month)
    if since is None:
        return calls.none()
    charged = calls.filter(closed_at__gte=start, closed_at__lt=end, charge_microusd__gt=0)
    return charged.filter(created_at__gte=since, created_at__lt=start)


def _one_by_one(calls: "QuerySet[Call]", page: int) -> Iterator[Call]:
    calls = calls.select_related("usage_record").order_by("created_at", "id")
    found = list(calls[:page])
    while found:
        yield from found
        last = found[-1]
        later = calls.filter(Q(created_at__gt=last.created_at) | Q(id__gt=last.id), created_at__gte=last.created_at)
        found = list(later[:page]) if len(found) == page else []


def _reported(call: Call, month: Month) -> ReportedCall:
    start, end = month
    used, charged = getattr(call, "usage_record", None), call.charge_microusd or 0
    in_month = call.closed_at is not None and start <= call.closed_at < end
    return ReportedCall(
        usage_id=call.id,
        begun_at=call.created_at,
        closed_at=call.closed_at,
        product=call.product,
        membership_id=call.membership_id,
        did=call.actor_did,
        route=call.route,
        model=call.model,
        state=CallState(call.state).value,
        review_reason=call.review_reason,
        resolution=call.resolution,
        basis=used.basis if used else None,
        max_cost_microusd=call.max_cost_microusd,
        charged_microusd=charged,
        charged_in_month_microusd=charged if in_month else 0,
        quantities=_quantities(used),
    )


def _quantities(used: Any) -> dict[str, int | None]:
    return {name: getattr(used, name, None) for name in QUANTITIES}
