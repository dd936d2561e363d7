"""Portal sessions: an anonymous one lasts an hour, and an IP address can begin only a limited number.

The module is the `SESSION_ENGINE`. It stores sessions in the database, as Django does.
"""

from collections.abc import Callable

from django.contrib.auth import SESSION_KEY
from django.contrib.sessions.backends.db import SessionStore as DatabaseStore
from django.http import HttpRequest, HttpResponse
from django.utils import timezone

from accounts.operations import limits
from accounts.portal.refusals import too_many_requests
from gateway.core.contract.errors import RateLimited
from gateway.core.contract.limits import ANONYMOUS_SESSION_SECONDS
from gateway.core.contract.route_limits import SESSIONS
from gateway.core.http.addresses import client_network
from gateway.core.http.rate_limits import note


class SessionStore(DatabaseStore):
    """Stores a session, which has a short lifetime before sign-in."""

    def get_session_cookie_age(self) -> int:
        usual = super().get_session_cookie_age()
        return usual if SESSION_KEY in self else min(usual, ANONYMOUS_SESSION_SECONDS)


class AnonymousSessionLimit:
    """Replaces a response with 429, and discards its new session, if its IP address has begun too many sessions."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        response = self.get_response(request)
        network = client_network(request)
        if network is None or not _begins(request):
            return response
        try:
            note(request, limits.take(SESSIONS, network, now=timezone.now()))
        except RateLimited as error:
            request.session.modified = False
            return too_many_requests(request, error)
        return response


def _begins(request: HttpRequest) -> bool:
    session = request.session
    return session.modified and session.session_key is None and not session.is_empty()
