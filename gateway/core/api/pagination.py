"""The `limit` and the `after` of list routes. SPEC: Limits; CONTRACT, 1: Lists."""

from typing import Any, TypeVar

from django.db.models import Model, Q, QuerySet
from drf_spectacular.utils import OpenApiParameter
from rest_framework.request import Request

from gateway.core.contract.errors import InvalidRequest
from gateway.core.contract.limits import LIST_LIMIT_DEFAULT, LIST_LIMIT_MAX, LIST_LIMIT_MIN

_Rows = TypeVar("_Rows", QuerySet[Any], list[Any])

LIMIT = OpenApiParameter(
    "limit",
    {"type": "integer", "minimum": LIST_LIMIT_MIN, "maximum": LIST_LIMIT_MAX, "default": LIST_LIMIT_DEFAULT},
    description="The number of items to return.",
)
LIMIT_OF_ALL = OpenApiParameter(
    "limit",
    {"type": "integer", "minimum": LIST_LIMIT_MIN, "maximum": LIST_LIMIT_MAX},
    description="The number of items to return; all if omitted.",
)
AFTER = OpenApiParameter("after", {"type": "string"}, description="The id of an item: the page begins after it.")


def limit_of(request: Request) -> int:
    """Read the query's `limit`, or raise InvalidRequest naming it."""
    sent = request.query_params.getlist("limit")
    if not sent:
        return LIST_LIMIT_DEFAULT
    text = sent[0]
    if len(sent) == 1 and text.isascii() and text.isdigit() and len(text) <= 3:
        limit = int(text)
        if LIST_LIMIT_MIN <= limit <= LIST_LIMIT_MAX:
            return limit
    raise InvalidRequest(f"limit must be a whole number from {LIST_LIMIT_MIN} to {LIST_LIMIT_MAX}.", param="limit")


def limited(request: Request, found: _Rows) -> _Rows:
    """Return the first `limit` rows of a list without pages, all of them if the query has none. Raises InvalidRequest as
    `limit_of` does."""
    return found[: limit_of(request)] if "limit" in request.query_params else found


def after_of(request: Request) -> str | None:
    """Read the query's `after`, None if there is none, or raise InvalidRequest if there are several."""
    sent = request.query_params.getlist("after")
    if len(sent) > 1:
        raise unknown_after()
    return sent[0] if sent else None


def unknown_after() -> InvalidRequest:
    """Return the error for an `after` that names no item of the list, even if it names another owner's item."""
    return InvalidRequest("No item of this list has the id that after names.", param="after")


def page_of(request: Request, found: QuerySet[Any]) -> dict[str, Any]:
    """Return the requested page, as `paged_listing` renders it; the rows come newest first.

    A page starts after a row, not at an offset, so rows inserted meanwhile neither repeat nor hide others. Raises
    InvalidRequest if `limit` is out of range, or if `after` names none of the rows.
    """
    limit, after = limit_of(request), after_of(request)
    if after is not None:
        found = _behind(found, after)
    rows: list[Model] = list(found.order_by("-created_at", "-id")[: limit + 1])
    page = rows[:limit]
    return {
        "data": page,
        "hasMore": len(rows) > limit,
        "firstId": page[0].pk if page else None,
        "lastId": page[-1].pk if page else None,
    }


def _behind(found: QuerySet[Any], after: str) -> QuerySet[Any]:
    """Return the rows that are older than one of them. The first condition lets an index scan start there."""
    created_at = found.filter(id=after).values_list("created_at", flat=True).first()
    if created_at is None:
        raise unknown_after()
    return found.filter(Q(created_at__lt=created_at) | Q(id__lt=after), created_at__lte=created_at)
