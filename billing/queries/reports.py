"""The data of one owner's monthly report. A report beyond its limits is refused, never truncated."""

from collections.abc import Sequence
from typing import Any, TypeVar

from django.db import connection
from django.db.models import QuerySet

from billing.models import CreditLot
from billing.queries.usage_facts import SUMS, read
from billing.rules.months import Month
from billing.rules.owners import Owner
from billing.rules.reports import Subject, SubjectHold, SubjectUsage
from gateway.core.contract.errors import OrgReportLimit
from gateway.core.contract.limits import REPORT_CALLS_MAX, REPORT_CHARGES_MAX, REPORT_HOLDS_MAX, REPORT_LOTS_MAX

USED = f"""
SELECT product, membership_id, {SUMS}, sum(charges)::bigint FROM ({{facts}}) f GROUP BY product, membership_id
"""  # noqa: S608 (our own text)
HELD = """
SELECT product, membership_id, sum(hold_microusd)::bigint, count(*)
  FROM (SELECT r.product, r.membership_id, r.hold_microusd FROM billing_reservation r
         WHERE r.wallet_id = (SELECT w.id FROM billing_wallet w WHERE w.owner_kind = %(kind)s AND w.owner_key = %(key)s)
           AND r.closed_at IS NULL LIMIT %(bound)s) held
 GROUP BY product, membership_id
"""

Row = TypeVar("Row")


def usage(owner: Owner, month: Month) -> list[SubjectUsage]:
    """Return each subject's use in `[start, end)`: the calls begun and the charges posted in it.

    Raises OrgReportLimit if there are too many calls or charges: a call has one charge for each credit that paid it,
    and one for the balance.
    """
    bound = max(REPORT_CALLS_MAX, REPORT_CHARGES_MAX) + 1
    rows = read(owner, month, USED, bound=bound)
    _check(sum(calls for _, _, calls, *_ in rows), REPORT_CALLS_MAX)
    _check(sum(charges for *_, charges in rows), REPORT_CHARGES_MAX)
    return [SubjectUsage(Subject(product, member), *sums) for product, member, *sums, _ in rows]


def open_holds(owner: Owner) -> list[SubjectHold]:
    """Return what each subject's open calls hold now, or raise OrgReportLimit if there are too many."""
    kind, key = owner
    with connection.cursor() as cursor:
        cursor.execute(HELD, {"kind": kind, "key": key, "bound": REPORT_HOLDS_MAX + 1})
        rows = cursor.fetchall()
    _check(sum(calls for *_, calls in rows), REPORT_HOLDS_MAX)
    return [SubjectHold(Subject(product, member), held) for product, member, held, _ in rows]


def check_lots(owner: Owner) -> None:
    """Raise OrgReportLimit if a wallet has more credits than one report shows."""
    kind, key = owner
    lots = CreditLot.objects.filter(wallet__owner_kind=kind, wallet__owner_key=key, closed_at=None)
    _check(lots[: REPORT_LOTS_MAX + 1].count(), REPORT_LOTS_MAX)


def bounded(rows: "QuerySet[Any, Row]", most: int) -> Sequence[Row]:
    """Read all rows, or raise OrgReportLimit if there are more than `most`."""
    read = list(rows[: most + 1])
    if len(read) > most:
        raise report_limit(most)
    return read


def report_limit(most: int) -> OrgReportLimit:
    """Build the error for a report that would read more than `most` rows."""
    return OrgReportLimit(f"The report exceeds its history limit of {most} rows.", details={"limit": most})


def _check(count: int, most: int) -> None:
    if count > most:
        raise report_limit(most)
