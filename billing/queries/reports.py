"""The data of one owner's monthly report. A report beyond its limits is refused, never truncated."""

from collections.abc import Sequence
from datetime import datetime
from typing import Any, TypeVar

from django.db.models import QuerySet

from billing.models import CreditLot, Reservation, State, Transfer
from billing.rules.owners import Owner
from billing.rules.reports import Amount, Made, Subject
from gateway.core.contract.errors import OrgReportLimit
from gateway.core.contract.limits import REPORT_CALLS_MAX, REPORT_CHARGES_MAX, REPORT_HOLDS_MAX, REPORT_LOTS_MAX

Row = TypeVar("Row")


def calls_made(owner: Owner, start: datetime, end: datetime) -> list[Made]:
    """List the calls that were begun in `[start, end)`, except those that were released."""
    calls = _calls(owner).filter(created_at__gte=start, created_at__lt=end).exclude(state=State.RELEASED)
    columns = ("product", "membership_id", "usage_record__input_tokens", "usage_record__output_tokens")
    rows = bounded(calls.values_list(*columns), REPORT_CALLS_MAX)
    return [Made(Subject(product, member), read or 0, written or 0) for product, member, read, written in rows]


def charges_posted(owner: Owner, start: datetime, end: datetime) -> list[Amount]:
    """List what the ledger charged for calls in `[start, end)`, whenever they were begun."""
    kind, key = owner
    charges = Transfer.objects.filter(
        wallet__owner_kind=kind, wallet__owner_key=key, kind="charge", created_at__gte=start, created_at__lt=end
    )
    rows = bounded(charges.values_list("source", "amount_microusd"), REPORT_CHARGES_MAX)
    calls = Reservation.objects.filter(id__in=charges.values("source")).values_list("id", "product", "membership_id")
    subjects = {call: Subject(product, member) for call, product, member in calls}
    return [Amount(subjects.get(source, Subject(None, None)), amount) for source, amount in rows]


def holds_open(owner: Owner) -> list[Amount]:
    """List what open calls hold now."""
    calls = _calls(owner).filter(closed_at=None).values_list("product", "membership_id", "hold_microusd")
    return [Amount(Subject(product, member), hold) for product, member, hold in bounded(calls, REPORT_HOLDS_MAX)]


def check_lots(owner: Owner) -> None:
    """Raise OrgReportLimit where a wallet has more credits than one report shows."""
    kind, key = owner
    lots = CreditLot.objects.filter(wallet__owner_kind=kind, wallet__owner_key=key, closed_at=None)
    bounded(lots.values_list("id"), REPORT_LOTS_MAX)


def bounded(rows: "QuerySet[Any, Row]", most: int) -> Sequence[Row]:
    """Read all rows, or raise OrgReportLimit where there are more than `most`."""
    read = list(rows[: most + 1])
    if len(read) > most:
        raise report_limit(most)
    return read


def report_limit(most: int) -> OrgReportLimit:
    """Build the refusal of a report that would read more than `most` rows."""
    return OrgReportLimit(f"The report exceeds its history limit of {most} rows.", details={"limit": most})


def _calls(owner: Owner) -> QuerySet[Reservation]:
    kind, key = owner
    return Reservation.objects.filter(wallet__owner_kind=kind, wallet__owner_key=key)
