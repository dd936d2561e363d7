"""The portal's error pages for rate limits."""

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render

from gateway.core.contract.errors import RateLimited


def too_many_requests(request: HttpRequest, error: RateLimited) -> HttpResponse:
    """Render the page for too many requests (429), with the time to retry."""
    response = render(
        request, "portal/too_many_requests.html", {"seconds": error.headers["Retry-After"]}, status=error.status
    )
    response["Retry-After"] = error.headers["Retry-After"]
    return response
