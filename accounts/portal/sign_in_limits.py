"""States the limits of sign-in pages, which django-allauth counts, on their responses.

Counts of failed passwords and codes are never stated: they would tell whoever guesses how far they are.
"""

from http import HTTPStatus
from typing import NamedTuple

from django.http import HttpRequest, HttpResponse

from accounts.allauth_internals import uses_of
from gateway.core.contract.route_limits import (
    EMAIL_CHANGES,
    PASSKEY_SIGN_INS,
    PASSWORD_CHANGES,
    PASSWORD_RESETS,
    SIGN_INS,
    SIGN_UPS,
    RouteLimit,
)
from gateway.core.http.rate_limits import note


class Action(NamedTuple):
    """What django-allauth counts when a page's form is sent, and the limit."""

    limit: RouteLimit
    name: str
    app: str = "allauth.account"


ACTIONS = {
    "account_login": Action(SIGN_INS, "login_address"),
    "mfa_login_webauthn": Action(PASSKEY_SIGN_INS, "webauthn_login", "allauth.mfa"),
    "account_signup": Action(SIGN_UPS, "signup"),
    "account_reset_password": Action(PASSWORD_RESETS, "reset_password"),
    "account_reset_password_from_key": Action(PASSWORD_RESETS, "reset_password_from_key"),
    "account_change_password": Action(PASSWORD_CHANGES, "change_password"),
    "account_set_password": Action(PASSWORD_CHANGES, "change_password"),
    "account_email": Action(EMAIL_CHANGES, "manage_email"),
}
"""By the name of the page's URL."""


def state(request: HttpRequest, response: HttpResponse) -> None:
    """Note what is left of a page's limit after its form was sent. A refusal gets the time to retry as well."""
    match = request.resolver_match
    action = ACTIONS.get(match.url_name or "") if match and request.method == "POST" else None
    if action is None or (action.limit.scope == "account" and not request.user.is_authenticated):
        return
    uses = uses_of(request, app=action.app, action=action.name)
    if uses is None:
        return
    note(request, action.limit.state(*uses))
    if response.status_code == HTTPStatus.TOO_MANY_REQUESTS and "Retry-After" not in response:
        response["Retry-After"] = str(uses.reset_seconds)
