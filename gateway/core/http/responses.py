"""Renders catalogue errors as HTTP responses, for DRF, plain Django and the lean handler."""

import logging
import re
from collections.abc import Mapping
from typing import Any

from django.conf import settings
from django.http import HttpResponse

from gateway.core.contract.errors import ApiError
from gateway.core.http import limit_refusals
from gateway.core.json.strict import dumps
from gateway.core.runtime.logs import RecurringLog

_causes = RecurringLog("gateway.api", logging.WARNING)

_NUMBER = re.compile(r"[0-9]+")

OAUTH_NO_STORE = {"Cache-Control": "no-store", "Pragma": "no-cache"}


def json_response(body: Any, status: int = 200, headers: Mapping[str, str] | None = None) -> HttpResponse:
    """Render a JSON response."""
    return HttpResponse(dumps(body), status=status, content_type="application/json", headers=headers)


def style_of(view: Any) -> str:
    """Return the style in which a view's viewset answers errors."""
    return str(getattr(getattr(view, "cls", None), "error_style", "api"))


def error_response(error: ApiError, request_id: str, *, style: str = "api") -> HttpResponse:
    """Render an error; `style="oauth"` is RFC 6749's body for the token routes, "messages" that of the Messages API. Logs the
    private cause once a minute; causes that differ only in numbers count as one."""
    limit_refusals.note(error)
    if error.private:
        text = f"{error.code}: {error.private}"
        _causes.write(_NUMBER.sub("#", text), text)
    if style == "oauth":
        body = error.oauth_body(request_id, explain=settings.EXPLAIN_REFUSALS)
    elif style == "messages":
        body = error.messages_body(request_id)
    else:
        body = error.body(request_id)
    return json_response(body, error.status, {**error.headers, "Cache-Control": "no-store"})
