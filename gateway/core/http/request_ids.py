"""Gives every response an X-Request-Id: the caller's own if it is well formed, else a new one."""

import logging
import re
from collections.abc import Callable, Mapping
from contextvars import ContextVar
from typing import Any

from django.http import HttpRequest, HttpResponse

from gateway.core.contract.headers import REQUEST_ID
from gateway.core.contract.ids import new_id
from gateway.core.http.request_log import note_route

_current: ContextVar[str] = ContextVar("request_id", default="-")

_WELL_FORMED = re.compile(r"[A-Za-z0-9_.:-]{1,128}")


def request_id_from(sent: str | None) -> str:
    """Choose the request's id."""
    return sent if sent and _WELL_FORMED.fullmatch(sent) else new_id("req")


def request_id_of_scope(scope: Mapping[str, Any]) -> str:
    """Choose the id of a request from its ASGI scope. Log records carry it from here on."""
    sent = next((str(value, "latin-1") for name, value in scope["headers"] if name == b"x-request-id"), None)
    return carried_by_logs(request_id_from(sent))


def carried_by_logs(request_id: str) -> str:
    """Return an id, and add it to all log records of this request, including those of its tasks and threads."""
    _current.set(request_id)
    return request_id


def current() -> str:
    """Return the id of the request that this thread or task handles, "-" if none."""
    return _current.get()


def request_id_of(request: object) -> str:
    """Return the id that the middleware gave this request (or the request that DRF wraps)."""
    return str(getattr(request, "request_id", "")) or new_id("req")


class CarriesRequestId(logging.Filter):
    """Adds to each log record the id of its request; `-` if there is none."""

    def filter(self, record: logging.LogRecord) -> bool:
        """Keep every record. One that names its request keeps that name."""
        if not hasattr(record, "request_id"):
            record.request_id = _current.get()
        return True


class RequestIdMiddleware:
    """Sets the request's id and the response's header."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        request.request_id = carried_by_logs(request_id_from(request.headers.get(REQUEST_ID)))  # type: ignore[attr-defined]
        response = self.get_response(request)
        note_route(request)
        response[REQUEST_ID] = request.request_id  # type: ignore[attr-defined]
        return response
