"""Stored responses: read, list their input, delete."""

from django.utils import timezone
from rest_framework.request import Request
from rest_framework.response import Response

from accounts.authentication import caller
from gateway.core.api.access import requires
from gateway.core.api.pagination import after_of, limit_of, unknown_after
from gateway.core.api.viewsets import ApiViewSet
from gateway.core.contract.capabilities import Capability
from gateway.core.contract.errors import InvalidRequest
from inference.operations import stored_responses as operations
from inference.queries import stored_responses
from inference.serializers.stored_responses import (
    describe_delete,
    describe_input_items,
    describe_response,
    page_of,
    render_deleted,
)

ORDERS = ("asc", "desc")


class StoredResponseViewSet(ApiViewSet):
    """One stored response, of the account or, under an organization's token, of the organization."""

    @describe_response
    @requires(Capability.RESPONSES_READ)
    def retrieve(self, request: Request, response_id: str) -> Response:
        """Return a response as its caller received it, until it expires."""
        if request.query_params.get("stream", "false") != "false":
            raise InvalidRequest("A stored response can be read only as JSON.", param="stream")
        return Response(stored_responses.stored_response(caller(request).owner, response_id, timezone.now()))

    @describe_delete
    @requires(Capability.RESPONSES_DELETE)
    def destroy(self, request: Request, response_id: str) -> Response:
        """Delete the gateway's record of a response. Responses that continue it contain what they need."""
        operations.delete(caller(request).owner, response_id, now=timezone.now())
        return Response(render_deleted(response_id))


class InputItemViewSet(ApiViewSet):
    """The whole input of a stored response, including that of earlier responses."""

    @describe_input_items
    @requires(Capability.RESPONSES_READ)
    def list(self, request: Request, response_id: str) -> Response:
        """List the input items, newest first unless `order` is `asc`."""
        limit, order = limit_of(request), _order_of(request)
        items = stored_responses.input_items(caller(request).owner, response_id, timezone.now())
        if order == "desc":
            items.reverse()
        return Response(page_of(_after(items, request), limit))


def _order_of(request: Request) -> str:
    order = request.query_params.get("order", "desc")
    if order not in ORDERS or len(request.query_params.getlist("order")) > 1:
        raise InvalidRequest("order must be asc or desc.", param="order")
    return order


def _after(items: "list[dict[str, object]]", request: Request) -> "list[dict[str, object]]":
    """Return the items after the one that `after` names. Raises InvalidRequest if there is no such item."""
    after = after_of(request)
    if after is None:
        return items
    for position, item in enumerate(items):
        if item["id"] == after:
            return items[position + 1 :]
    raise unknown_after()
