"""Error pages for people, drawn without the database: it may be what failed."""

from django.http import HttpResponse
from django.template.loader import render_to_string

from gateway.core.contract.errors import ApiError

STATUSES = {400, 409, 503}


def error_page(error: ApiError) -> HttpResponse | None:
    """Draw the page of an error that is not our own fault, else None."""
    if error.status not in STATUSES:
        return None
    # Without the request, so that no context processor reads the session.
    headers = {**error.headers, "Cache-Control": "no-store"}
    return HttpResponse(render_to_string(f"{error.status}.html"), status=error.status, headers=headers)
