"""Renders catalogue errors as HTTP answers, for DRF, for plain Django and for the lean handler alike."""

import logging
from collections.abc import Mapping
from typing import Any

from django.http import HttpResponse

from gateway.api.json import dumps
from gateway.contract.errors import ApiError

log = logging.getLogger("gateway.api")

OAUTH_NO_STORE = {"Cache-Control": "no-store", "Pragma": "no-cache"}


def json_response(body: Any, status: int = 200, headers: Mapping[str, str] | None = None) -> HttpResponse:
    """Render a JSON answer."""
    return HttpResponse(dumps(body), status=status, content_type="application/json", headers=headers)


def error_response(error: ApiError, request_id: str, *, style: str = "api") -> HttpResponse:
    """Render an error; `style="oauth"` is RFC 6749's body for the token routes. Logs the private cause."""
    if error.private:
        log.info("%s %s: %s", request_id, error.code, error.private)
    body = error.oauth_body(request_id) if style == "oauth" else error.body(request_id)
    return json_response(body, error.status, {**error.headers, "Cache-Control": "no-store"})
