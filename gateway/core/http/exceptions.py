"""DRF's exception handler: maps exceptions of views to the error catalogue."""

import logging
from typing import Any

from django.core.exceptions import PermissionDenied, RequestDataTooBig
from django.http import Http404, HttpResponse
from rest_framework import exceptions as drf

from gateway.core.contract import errors
from gateway.core.http.database_errors import as_catalogue_error
from gateway.core.http.request_ids import request_id_of
from gateway.core.http.responses import error_response

log = logging.getLogger("gateway.api")


def handle(exc: Exception, context: dict[str, Any]) -> HttpResponse:
    """Render any exception of a view as a catalogue error. An unexpected one is logged in full, and the caller sees
    only an internal error."""
    request, view = context.get("request"), context.get("view")
    style = getattr(view, "error_style", "api")
    return error_response(as_api_error(exc), request_id_of(request), style=style)


def as_api_error(exc: Exception) -> errors.ApiError:
    """Return the catalogue error for an exception."""
    if isinstance(exc, errors.ApiError):
        return exc
    translated = as_catalogue_error(exc) or _translate(exc)
    if translated is None:
        log.exception("unhandled error", exc_info=exc)
        return errors.InternalError()
    return translated


def answered(exc: Exception) -> errors.ApiError:
    """Return the catalogue error for the response, and break the exception's reference cycles.

    The frames of a traceback reference the request's body, and one of them often the exception itself: such a cycle
    would stay in memory until the garbage collector runs.
    """
    error = as_api_error(exc)
    exc.__traceback__ = error.__traceback__ = None
    return error


def _translate(exc: Exception) -> errors.ApiError | None:
    match exc:
        case Http404() | drf.NotFound():
            return errors.NotFound()
        case drf.MethodNotAllowed():
            return errors.MethodNotAllowed()
        case drf.UnsupportedMediaType():
            return errors.UnsupportedMediaType()
        case drf.ParseError():
            return errors.InvalidJson()
        case RequestDataTooBig():
            return errors.RequestTooLarge()
        case drf.ValidationError():
            return _invalid(exc)
        case drf.NotAuthenticated() | drf.AuthenticationFailed():
            return errors.InvalidToken()
        case PermissionDenied() | drf.PermissionDenied():
            return errors.Forbidden()
        case drf.Throttled():
            return errors.RateLimited(headers={"Retry-After": str(int(getattr(exc, "wait", None) or 1))})
    return None


def _invalid(exc: drf.ValidationError) -> errors.InvalidRequest:
    param, message = _first_fault(exc.detail)
    return errors.InvalidRequest(message, param=param)


def _first_fault(detail: Any, path: str = "") -> tuple[str | None, str]:
    if isinstance(detail, dict):
        name, inner = next(iter(detail.items()))
        step = "" if name == "non_field_errors" else str(name)
        return _first_fault(inner, ".".join(part for part in (path, step) if part))
    if isinstance(detail, list):
        at = next((i for i, item in enumerate(detail) if item), 0)
        nested = isinstance(detail[at], dict | list)
        return _first_fault(detail[at], f"{path}.{at}" if nested and isinstance(detail[at], dict) else path)
    return path or None, str(detail)
