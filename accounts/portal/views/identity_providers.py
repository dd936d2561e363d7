"""To an identity provider and back. What it answers oddly is a page that says so."""

import logging
from collections.abc import Callable

from allauth.socialaccount.providers.openid_connect import views
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from requests import RequestException

log = logging.getLogger("accounts.identity_providers")

# What reading a document with missing, mistyped or oversized members raises.
ODD_ANSWERS = (RequestException, LookupError, TypeError, ValueError, AttributeError, OverflowError)


def _answered(view: Callable[[HttpRequest, str], HttpResponse]) -> Callable[[HttpRequest, str], HttpResponse]:
    def page(request: HttpRequest, provider_id: str) -> HttpResponse:
        try:
            return view(request, provider_id)
        except ODD_ANSWERS as error:
            log.warning("sign-in through %r failed: %r", provider_id, error)
            return render(request, "socialaccount/authentication_error.html", status=502)

    return page


login = _answered(views.login)
callback = _answered(views.callback)
