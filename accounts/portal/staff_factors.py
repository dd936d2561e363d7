"""The second factor of operators: with `STAFF_SECOND_FACTOR`, no page of the console opens to a session that has not passed one."""

from collections.abc import Callable
from typing import Any

from allauth.account.authentication import get_authentication_records
from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.urls import reverse
from django.utils.http import urlencode

from accounts.models import Account
from accounts.queries import second_factors

CONSOLE = "admin"
OPEN = ("login", "logout")


def is_due(request: HttpRequest) -> bool:
    """Return whether the request's session is an operator's that must pass a second factor before the console opens."""
    user = request.user
    if not (isinstance(user, Account) and needs_factor(user)):
        return False
    return not second_factors.has_passed(user, get_authentication_records(request, user))


def needs_factor(account: Account) -> bool:
    """Return whether an account is an operator's, who needs a second factor."""
    return bool(settings.STAFF_SECOND_FACTOR and (account.is_staff or account.is_superuser))


class StaffSecondFactor:
    """Redirects from every page of the console to the second factor, however the session began.

    What a path resolves to is decisive, not its spelling, so it covers each page that is added to the console.
    """

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        return self.get_response(request)

    def process_view(self, request: HttpRequest, *view: Any) -> HttpResponse | None:
        """Return the redirect, or None to go on. A form that was sent is not repeated afterwards."""
        match = request.resolver_match
        if match is None or CONSOLE not in match.app_names or match.url_name in OPEN or not is_due(request):
            return None
        page = request.get_full_path() if request.method == "GET" else reverse("admin:index")
        return _leading_to(page, request)


def _leading_to(page: str, request: HttpRequest) -> HttpResponse:
    """Redirect to the second factor, and from there to the page; a dialog of htmx would show what it is redirected to."""
    is_dialog = "HX-Request" in request.headers
    after = reverse("admin:index") if is_dialog else page
    address = f"{reverse('portal_console_factor')}?{urlencode({'next': after})}"
    if is_dialog:
        return HttpResponse(headers={"HX-Redirect": address})
    return HttpResponse(status=302, headers={"Location": address})
