"""Authenticates the routes under /api by the portal's session, so that its pages need no token."""

from django.http import HttpRequest, HttpResponse
from rest_framework.authentication import BaseAuthentication, CSRFCheck
from rest_framework.request import Request

from accounts.models import Account
from accounts.rules.principal import Principal
from gateway.core.api.drf_internals import django_request
from gateway.core.contract.capabilities import Capability
from gateway.core.contract.errors import Forbidden, UnsupportedMediaType
from gateway.core.http.fetch_site import is_foreign

CLIENT_ID = "portal"
FORMS = ("multipart/form-data", "application/x-www-form-urlencoded")
SCOPES = frozenset(
    {
        Capability.BILLING_CHECKOUT,
        Capability.BUDGETS_MANAGE,
        Capability.MEMBERS_MANAGE,
        Capability.ORGS_MANAGE,
        Capability.ORGS_READ,
        Capability.PRODUCTS_MANAGE,
        Capability.SEATS_MANAGE,
        Capability.USAGE_READ,
        Capability.WALLET_READ,
    }
)


class PortalSession(BaseAuthentication):
    """Authenticates by session cookie and CSRF token. No access token or proof key ever reaches the browser."""

    def authenticate(self, request: Request) -> tuple[Principal, None] | None:
        """Return the signed-in person as a principal, or None without a session. Raises Forbidden."""
        sent = django_request(request)
        account = getattr(sent, "user", None)
        if not isinstance(account, Account) or not account.is_live:
            return None
        _check_csrf(sent)
        return principal_of(account), None


def _check_csrf(request: HttpRequest) -> None:
    # Django looks for the token in a form, which reads the body. These routes have no forms.
    if request.method == "POST" and request.content_type in FORMS:
        raise UnsupportedMediaType
    if is_foreign(request):
        raise Forbidden("Another site's page sent this.")
    check = CSRFCheck(lambda _: HttpResponse())
    check.process_request(request)
    if check.process_view(request, lambda _: HttpResponse(), (), {}):
        raise Forbidden("The CSRF token is missing or wrong.")


def principal_of(account: Account) -> Principal:
    """Return the principal of a signed-in person for the management routes."""
    return Principal(
        did=account.did,
        client_id=CLIENT_ID,
        scopes=SCOPES,
        jkt="",
        token_id="",
        product=None,
        org_id=None,
        membership_id=None,
        session_id=None,
        issued_at=0,
        expires_at=0,
    )
