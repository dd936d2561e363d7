"""Pages that refuse."""

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render

from gateway.core.contract.errors import RateLimited


def too_many(request: HttpRequest, error: RateLimited) -> HttpResponse:
    """Show that too much was asked for (429), and when to come back."""
    response = render(request, "portal/too_many.html", {"seconds": error.headers["Retry-After"]}, status=error.status)
    response["Retry-After"] = error.headers["Retry-After"]
    return response
