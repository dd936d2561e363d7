"""To an identity provider and back. What it answers oddly is a page that says so, and so is a provider that keeps silent."""

import logging
import threading
from collections.abc import Callable

from allauth.socialaccount.models import SocialApp
from allauth.socialaccount.providers.oauth2.views import OAuth2CallbackView, OAuth2LoginView, OAuth2View
from django.conf import settings
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from requests import RequestException

from accounts.portal.identity_providers import CheckedAdapter
from gateway.core.api.logs import RecurringLog
from gateway.core.outbound.redaction import redacted

_told = RecurringLog("accounts.identity_providers", logging.WARNING)
# What reading a document with missing, mistyped or oversized members raises.
ODD_ANSWERS = (RequestException, LookupError, TypeError, ValueError, AttributeError, OverflowError)


PLACES = max(1, settings.SYNC_REQUESTS_MAX // 4)
"""So many requests of a process may wait for providers: one that hangs shall not stop the rest of the portal."""

_places = threading.BoundedSemaphore(PLACES)

Page = Callable[[HttpRequest, str], HttpResponse]


def _answered(view: type[OAuth2View]) -> Page:
    def page(request: HttpRequest, provider_id: str) -> HttpResponse:
        if not _places.acquire(blocking=False):
            return _failed(request, 503)
        try:
            return _ask(view, request, provider_id)
        except ODD_ANSWERS as error:
            _told.write(
                f"{provider_id} {type(error).__name__}",
                f"sign-in through {provider_id} failed: {redacted(repr(error))}",
            )
            return _failed(request, 502)
        finally:
            _places.release()

    return page


def _ask(view: type[OAuth2View], request: HttpRequest, provider_id: str) -> HttpResponse:
    try:
        response: HttpResponse = view.adapter_view(CheckedAdapter(request, provider_id))(request)
    except SocialApp.DoesNotExist:
        raise Http404 from None
    return response


def _failed(request: HttpRequest, status: int) -> HttpResponse:
    return render(request, "socialaccount/authentication_error.html", status=status)


login = _answered(OAuth2LoginView)
callback = _answered(OAuth2CallbackView)
