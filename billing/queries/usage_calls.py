"""Single calls of an owner's month, page by page, and the details of one call."""

from typing import NamedTuple

from django.db.models import Q

from billing.models import Call
from billing.queries import usage
from billing.rules.months import Month
from billing.rules.owners import Owner

PAGE = 50


class CallPage(NamedTuple):
    """A page of calls, newest first, and the usage id that the next page starts after: None on the last page."""

    calls: list[Call]
    next: str | None


def page_of(
    owner: Owner, month: Month, after: str | None = None, *, client_id: str | None = None, size: int = PAGE
) -> CallPage:
    """Return the calls that began in the month, newest first; with `after`, those that follow that call of the owner, and with
    `client_id`, only that app's."""
    start, end = month
    calls = usage.of_owner(owner).filter(created_at__gte=start, created_at__lt=end)
    if client_id is not None:
        calls = calls.filter(client_id=client_id)
    last = usage.of_owner(owner).filter(pk=after).first() if after else None
    if last is not None:
        calls = calls.filter(Q(created_at__lt=last.created_at) | Q(id__lt=last.id), created_at__lte=last.created_at)
    found = list(calls.select_related("usage_record").order_by("-created_at", "-id")[: size + 1])
    return CallPage(found[:size], found[size - 1].pk if len(found) > size else None)


def one(owner: Owner, usage_id: str, *, member: str | None = None) -> Call | None:
    """Return a call of the owner with its usage, prices and takeover, or None if there is no such call; with `member`, only
    if it is that membership's."""
    return (
        usage.visible(owner, member)
        .filter(pk=usage_id)
        .select_related("usage_record", "price_version", "takeover__price_version")
        .first()
    )
