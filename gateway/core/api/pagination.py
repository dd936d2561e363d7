"""The `limit` of list routes: 1 to 100. SPEC: Limits."""

from drf_spectacular.utils import OpenApiParameter
from rest_framework.request import Request

from gateway.core.contract.errors import InvalidRequest
from gateway.core.contract.limits import LIST_LIMIT_DEFAULT, LIST_LIMIT_MAX, LIST_LIMIT_MIN

LIMIT = OpenApiParameter(
    "limit",
    {"type": "integer", "minimum": LIST_LIMIT_MIN, "maximum": LIST_LIMIT_MAX, "default": LIST_LIMIT_DEFAULT},
    description="How many to return.",
)


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
