"""Error pages, rendered without the database, which may be what failed."""

from django.http import HttpResponse
from django.template.loader import render_to_string

from gateway.core.contract.errors import ApiError

STATUSES = {400, 409, 503}


def error_page(error: ApiError) -> HttpResponse | None:
    """Render the page of a client error; None for a server error."""
    if error.status not in STATUSES:
        return None
    # Without the request, so that no context processor reads the session.
    headers = {**error.headers, "Cache-Control": "no-store"}
    return HttpResponse(render_to_string(f"{error.status}.html"), status=error.status, headers=headers)
