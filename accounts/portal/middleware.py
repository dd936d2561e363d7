"""What every page has: a live account or nobody's, a content security policy, and the look that the person came with."""

from collections.abc import Callable

from django.conf import settings
from django.contrib.auth import logout
from django.http import HttpRequest, HttpResponse

from accounts.portal.session import form_targets
from accounts.queries import appearance as queries
from accounts.rules import appearance as rules

Handler = Callable[[HttpRequest], HttpResponse]

# No inline script or style, nothing from elsewhere, in nobody's frame.
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; font-src 'self'; "
    "connect-src 'self'; base-uri 'none'; frame-ancestors 'none'; form-action 'self'"
)
POLICY_HEADER = "Content-Security-Policy"


class LiveAccounts:
    """Ends the session of an account that is suspended or closed, on the portal's pages and in the operator console."""

    def __init__(self, get_response: Handler) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        """Answer as to nobody where the account is not live."""
        user = request.user if request.session.session_key else None
        if user is not None and user.is_authenticated and not user.is_live:
            logout(request)
        return self.get_response(request)


class ContentSecurityPolicy:
    """Sets the policy on every HTML page, unless its view set one of its own.

    Browsers apply `form-action` to the redirects after a form too, so the origins that this session's authorizations
    lead to are allowed as well, and on a page alone those that its view names in the response's `form_targets`.
    """

    def __init__(self, get_response: Handler) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        """Answer with the policy."""
        response = self.get_response(request)
        if POLICY_HEADER not in response and not request.path.startswith("/admin/"):
            response[POLICY_HEADER] = " ".join([POLICY, *_targets(request, response)])
        return response


def _targets(request: HttpRequest, response: HttpResponse) -> list[str]:
    """List where this page's forms may lead; an error page has none, and its session may not be readable."""
    if response.status_code >= 500:
        return []
    return [*form_targets(request), *getattr(response, "form_targets", ())]


class SeeOther:
    """Answers a form with 303 where it redirects, so that no browser sends the form again (RFC 9110, 15.4.4)."""

    def __init__(self, get_response: Handler) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        """Turn 302 after a POST into 303."""
        response = self.get_response(request)
        if request.method == "POST" and response.status_code == 302:
            response.status_code = 303
        return response


class Appearance:
    """Reads the look from the link, the referrer or the cookie, and remembers what a link asked for."""

    def __init__(self, get_response: Handler) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        """Answer in the person's look."""
        before, now = self._read(request)
        request.appearance = rules.merged(now, before)  # type: ignore[attr-defined]
        response = self.get_response(request)
        if now != rules.Appearance():
            self._remember(response, rules.merged(now, before))
        return response

    def _read(self, request: HttpRequest) -> tuple[rules.Appearance, rules.Appearance]:
        cookie, referrer = request.COOKIES.get(rules.COOKIE), request.headers.get("Referer")
        if not (cookie or referrer or request.GET):
            return rules.Appearance(), rules.Appearance()
        products = queries.products()
        return rules.read_cookie(cookie, products), rules.chosen(request.GET.dict(), referrer, products)

    def _remember(self, response: HttpResponse, look: rules.Appearance) -> None:
        response.set_cookie(
            rules.COOKIE,
            look.cookie(),
            max_age=rules.COOKIE_SECONDS,
            domain=settings.APPEARANCE_COOKIE_DOMAIN,
            secure=settings.SESSION_COOKIE_SECURE,
            httponly=True,
            samesite="Lax",
        )
