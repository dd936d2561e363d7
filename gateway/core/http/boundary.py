"""The edge of the API: errors under its paths are JSON of the catalogue, and no response is cached."""

import sys
from collections.abc import Callable

from django.http import Http404, HttpRequest, HttpResponse
from django.views import defaults

from gateway.core.contract.errors import InternalError, InvalidRequest, NotReady
from gateway.core.http.database_errors import as_catalogue_error
from gateway.core.http.exceptions import as_api_error
from gateway.core.http.pages import error_page
from gateway.core.http.request_ids import request_id_of
from gateway.core.http.responses import error_response

API_PREFIXES = ("/v1/", "/api/")


def is_api_path(path: str) -> bool:
    """Return whether a path belongs to the API, or to the portal's mount of it."""
    return f"{path}/".startswith(API_PREFIXES)


def server_error(request: HttpRequest) -> HttpResponse:
    """Respond to an exception of middleware (Django's `handler500`), such as an unreadable session."""
    cause = sys.exc_info()[1]
    error = as_catalogue_error(cause) if isinstance(cause, Exception) else None
    if is_api_path(request.path):
        return error_response(error or InternalError(), request_id_of(request))
    return (error_page(error) if error else None) or defaults.server_error(request)


class ApiBoundaryMiddleware:
    """Renders errors that no view raised in the API's error format."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        response = self.get_response(request)
        if is_api_path(request.path):
            response = self._in_shape(request, response)
            response["Cache-Control"] = "no-store"
        return response

    def process_exception(self, request: HttpRequest, exception: Exception) -> HttpResponse | None:
        """Render an exception of a plain Django view."""
        if is_api_path(request.path):
            return error_response(as_api_error(exception), request_id_of(request))
        error = exception if isinstance(exception, NotReady) else as_catalogue_error(exception)
        return error_page(error) if error else None

    def _in_shape(self, request: HttpRequest, response: HttpResponse) -> HttpResponse:
        if response.status_code < 400 or response.get("Content-Type", "").startswith("application/json"):
            return response
        cause = Http404() if response.status_code == 404 else None
        error = as_api_error(cause) if cause else InvalidRequest(status=response.status_code)
        return error_response(error, request_id_of(request))
