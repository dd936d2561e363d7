"""Refuses requests that reach no view, in the error format of their route."""

from typing import Any

from django.http import HttpResponse
from django.urls import Resolver404, resolve

from gateway.core.contract.errors import ApiError
from gateway.core.contract.headers import REQUEST_ID
from gateway.core.http.boundary import is_api_path
from gateway.core.http.lean.sending import send_response
from gateway.core.http.request_ids import request_id_of_scope
from gateway.core.http.responses import error_response, style_of

WEBHOOKS = "/webhooks/"


async def refuse(scope: dict[str, Any], send: Any, error: ApiError) -> None:
    """Respond with a catalogue error: JSON for programs, a line of text for pages."""
    request_id = request_id_of_scope(scope)
    if is_api_path(scope["path"]) or scope["path"].startswith(WEBHOOKS):
        response = error_response(error, request_id, style=_error_style(scope["path"]))
    else:
        headers = {**error.headers, "Cache-Control": "no-store"}
        response = HttpResponse(error.message, status=error.status, content_type="text/plain", headers=headers)
    response[REQUEST_ID] = request_id
    await send_response(send, response)


def _error_style(path: str) -> str:
    try:
        return style_of(resolve(path).func)
    except Resolver404:
        return "api"
