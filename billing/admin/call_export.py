"""The console's list of calls as a CSV file."""

from collections.abc import Iterator
from typing import Any

from django.db.models import QuerySet

from billing.models import Call
from billing.rules import call_causes, call_labels
from billing.rules.quantities import QUANTITY_NAMES
from gateway.core.api.times import rfc3339, rfc3339_or_none
from gateway.core.console.row_names import row_names
from gateway.core.portal.csv_files import Cell

ROWS_MAX = 100_000
PAGE = 1000
HEADER: tuple[str, ...] = (
    *("usage_id", "began_at", "closed_at", "status", "cause", "cause_in_words", "route", "model", "deployment"),
    *("product", "client_id", "owner_kind", "owner", "organization", "membership_id", "did", "request_id"),
    *("max_cost_microusd", "hold_microusd", "charge_microusd", "overrun_microusd", "cost_microusd", "basis"),
    *QUANTITY_NAMES,
)


def rows(calls: QuerySet[Call]) -> Iterator[tuple[Cell, ...]]:
    """Return a row of HEADER for each call, newest first, of at most ROWS_MAX calls.

    They are read a page at a time by their ids, so that neither a transaction nor all of them are kept.
    """
    newest = calls.order_by("-pk").select_related("wallet", "usage_record")
    left, page = ROWS_MAX, list(newest[:PAGE])
    while page:
        names = row_names("deployment", sorted({call.deployment for call in page if call.deployment}))
        yield from (_row(call, names) for call in page)
        left -= len(page)
        is_last = len(page) < PAGE or left <= 0
        page = [] if is_last else list(newest.filter(pk__lt=page[-1].pk)[: min(PAGE, left)])


def _row(call: Call, names: dict[str, str]) -> tuple[Cell, ...]:
    used: Any = getattr(call, "usage_record", None)
    cause = call_causes.word_of(call.state, call.review_reason, call.resolution)
    return (
        *(call.pk, rfc3339(call.created_at), rfc3339_or_none(call.closed_at), call_labels.STATUS[call.state]),
        *(cause, call_causes.title(cause), call.route, call.model, names.get(call.deployment or "")),
        *(call.product, call.client_id, call.wallet.owner_kind, call.wallet.owner_key, call.org_id),
        *(call.membership_id, call.actor_did, call.request_id, call.max_cost_microusd, call.hold_microusd),
        *(call.charge_microusd, call.overrun_microusd, used and used.cost_microusd, used and used.basis),
        *(getattr(used, name, None) for name in QUANTITY_NAMES),
    )
