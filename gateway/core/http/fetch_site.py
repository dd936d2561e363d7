"""Checks where a browser says that a request came from (W3C Fetch Metadata, `Sec-Fetch-Site`).

Scripts cannot set the header, so it is trusted if present: a page of another site cannot change anything through a
session here, even with a valid CSRF token. Requests without the header depend on the CSRF token alone.
"""

from collections.abc import Callable
from typing import Any

from django.conf import settings
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse

SAFE_METHODS = frozenset({"GET", "HEAD", "OPTIONS", "TRACE"})
OWN = frozenset({"same-origin", "none"})  # none: a user action, such as resubmitting a form


def is_foreign(request: HttpRequest) -> bool:
    """Return whether a browser says that another site's page sent a changing request.

    `same-site` is another origin of the same site, possibly another party's subdomain: it is foreign unless its origin
    is one of `CSRF_TRUSTED_ORIGINS`. An unknown value is foreign.
    """
    site = request.headers.get("Sec-Fetch-Site")
    if request.method in SAFE_METHODS or site is None or site in OWN:
        return False
    return site != "same-site" or request.headers.get("Origin") not in settings.CSRF_TRUSTED_ORIGINS


class FetchSiteMiddleware:
    """Refuses foreign requests to views that are protected by a CSRF token."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        """Return the response; the check runs once the view is known."""
        return self.get_response(request)

    def process_view(self, request: HttpRequest, view: Any, args: Any, kwargs: Any) -> None:
        """Raise PermissionDenied for a foreign request. Token routes are exempt from CSRF checks and from this one."""
        if not getattr(view, "csrf_exempt", False) and is_foreign(request):
            raise PermissionDenied
