"""The portal's error pages for rate limits."""

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render

from gateway.core.contract.errors import RateLimited
from gateway.core.http import limit_refusals


def too_many_requests(request: HttpRequest, error: RateLimited) -> HttpResponse:
    """Render the page for too many requests (429), with the time to retry."""
    limit_refusals.note(error)
    context = {
        "seconds": error.headers["Retry-After"],
        "is_of_address": error.details.get("scope") == "address",
    }
    response = render(request, "portal/too_many_requests.html", context, status=error.status)
    for name, value in error.headers.items():
        response[name] = value
    return response
