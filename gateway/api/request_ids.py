"""Every answer carries an X-Request-Id: the caller's own where it is well formed, else a new one."""

import re
from collections.abc import Callable, Mapping
from typing import Any

from django.http import HttpRequest, HttpResponse

from gateway.contract.headers import REQUEST_ID
from gateway.contract.ids import new_id

_WELL_FORMED = re.compile(r"[A-Za-z0-9_.:-]{1,128}")


def request_id_from(sent: str | None) -> str:
    """Choose the request's id."""
    return sent if sent and _WELL_FORMED.fullmatch(sent) else new_id("req")


def request_id_of_scope(scope: Mapping[str, Any]) -> str:
    """Choose the id of a request that is still an ASGI scope."""
    for name, value in scope["headers"]:
        if name == b"x-request-id":
            return request_id_from(str(value, "latin-1"))
    return request_id_from(None)


def request_id_of(request: object) -> str:
    """Read the id that the middleware gave this request (or the request that DRF wraps)."""
    return str(getattr(request, "request_id", "")) or new_id("req")


class RequestIdMiddleware:
    """Gives the request its id and the response its header."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        request.request_id = request_id_from(request.headers.get(REQUEST_ID))  # type: ignore[attr-defined]
        response = self.get_response(request)
        response[REQUEST_ID] = request.request_id  # type: ignore[attr-defined]
        return response
