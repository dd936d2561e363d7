"""Redirects to identity providers, and their callbacks. An invalid response, or none, gives an error page."""

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
from gateway.core.outbound.redaction import redacted
from gateway.core.runtime.logs import RecurringLog

_log = RecurringLog("accounts.identity_providers", logging.WARNING)
# The errors that the library raises for failed requests and for documents with missing or malformed members.
RESPONSE_ERRORS = (RequestException, LookupError, TypeError, ValueError, AttributeError, OverflowError)


WAITING_MAX = max(1, settings.SYNC_REQUESTS_MAX // 4)
"""The number of requests of a process that may wait for providers, so that a slow provider does not block the
portal.
"""

_slots = threading.BoundedSemaphore(WAITING_MAX)

Page = Callable[[HttpRequest, str], HttpResponse]


def _guarded(view: type[OAuth2View]) -> Page:
    def page(request: HttpRequest, provider_id: str) -> HttpResponse:
        if not _slots.acquire(blocking=False):
            return _failed(request, 503)
        try:
            return _call(view, request, provider_id)
        except RESPONSE_ERRORS as error:
            _log.write(
                f"{provider_id} {type(error).__name__}",
                f"sign-in through {provider_id} failed: {redacted(repr(error))}",
            )
            return _failed(request, 502)
        finally:
            _slots.release()

    return page


def _call(view: type[OAuth2View], request: HttpRequest, provider_id: str) -> HttpResponse:
    try:
        response: HttpResponse = view.adapter_view(CheckedAdapter(request, provider_id))(request)
    except SocialApp.DoesNotExist:
        raise Http404 from None
    return response


def _failed(request: HttpRequest, status: int) -> HttpResponse:
    return render(request, "socialaccount/authentication_error.html", status=status)


login = _guarded(OAuth2LoginView)
callback = _guarded(OAuth2CallbackView)
