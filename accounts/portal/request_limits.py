"""Limits how often one person, or one address of people who are not signed in, may request pages."""

from collections.abc import Callable

from django.http import HttpRequest, HttpResponse

from accounts.models import Account
from accounts.portal import sign_in_limits
from accounts.portal.refusals import too_many_requests
from gateway.core.contract.errors import RateLimited
from gateway.core.contract.route_limits import PAGES, PORTAL, RouteLimit
from gateway.core.http.addresses import client_network
from gateway.core.http.boundary import is_api_path
from gateway.core.http.rate_limits import note
from gateway.core.http.request_ids import request_id_of
from gateway.core.http.responses import error_response
from gateway.core.runtime import process_limits

COUNTED_ELSEWHERE = ("/v1/", "/webhooks/", "/admin/")
"""Routes with limits of their own, and the console, whose operators are trusted."""


class RequestLimits:
    """Counts each request for a page and each of the portal's scripts, and refuses those beyond a limit before any view."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        """Respond, or refuse the request."""
        if f"{request.path}/".startswith(COUNTED_ELSEWHERE):
            return self.get_response(request)
        try:
            if counted := _counted(request):
                note(request, process_limits.take(*counted))
        except RateLimited as error:
            return _refusal(request, error)
        response = self.get_response(request)
        sign_in_limits.state(request, response)
        return response

    def process_exception(self, request: HttpRequest, exception: Exception) -> HttpResponse | None:
        """Render a page's RateLimited. Errors of the API's routes are rendered elsewhere."""
        if not isinstance(exception, RateLimited) or is_api_path(request.path):
            return None
        return too_many_requests(request, exception)


def _counted(request: HttpRequest) -> tuple[RouteLimit, str] | None:
    user = request.user if request.session.session_key else None
    if isinstance(user, Account):
        return PORTAL, user.did
    network = client_network(request)
    return (PAGES, network) if network else None


def _refusal(request: HttpRequest, error: RateLimited) -> HttpResponse:
    if is_api_path(request.path):
        return error_response(error, request_id_of(request))
    return too_many_requests(request, error)
