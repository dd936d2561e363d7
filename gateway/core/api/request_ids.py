"""Every answer carries an X-Request-Id: the caller's own where it is well formed, else a new one."""

import logging
import re
from collections.abc import Callable, Mapping
from contextvars import ContextVar
from typing import Any

from django.http import HttpRequest, HttpResponse

from gateway.core.contract.headers import REQUEST_ID
from gateway.core.contract.ids import new_id

_current: ContextVar[str] = ContextVar("request_id", default="-")

_WELL_FORMED = re.compile(r"[A-Za-z0-9_.:-]{1,128}")


def request_id_from(sent: str | None) -> str:
    """Choose the request's id."""
    return sent if sent and _WELL_FORMED.fullmatch(sent) else new_id("req")


def request_id_of_scope(scope: Mapping[str, Any]) -> str:
    """Choose the id of a request that is still an ASGI scope. What is logged from here on carries it."""
    sent = next((str(value, "latin-1") for name, value in scope["headers"] if name == b"x-request-id"), None)
    return carried_by_logs(request_id_from(sent))


def carried_by_logs(request_id: str) -> str:
    """Return an id, and let every line that is logged for this request carry it, in tasks and threads of its own
    too."""
    _current.set(request_id)
    return request_id


def request_id_of(request: object) -> str:
    """Read the id that the middleware gave this request (or the request that DRF wraps)."""
    return str(getattr(request, "request_id", "")) or new_id("req")


class CarriesRequestId(logging.Filter):
    """Adds to each log record the id of the request that it belongs to; `-` where there is none."""

    def filter(self, record: logging.LogRecord) -> bool:
        """Keep every record."""
        record.request_id = _current.get()
        return True


class RequestIdMiddleware:
    """Sets the request's id and the response's header."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        request.request_id = carried_by_logs(request_id_from(request.headers.get(REQUEST_ID)))  # type: ignore[attr-defined]
        response = self.get_response(request)
        response[REQUEST_ID] = request.request_id  # type: ignore[attr-defined]
        return response
