"""Middleware of the portal: session checks, content security policy, redirects after forms, and appearance."""

from collections.abc import Callable

from django.conf import settings
from django.contrib.auth import logout
from django.http import HttpRequest, HttpResponse
from django.utils.cache import add_never_cache_headers

from accounts.portal.session import form_targets
from accounts.queries import appearance as queries
from accounts.rules import appearance as rules

Handler = Callable[[HttpRequest], HttpResponse]

# No inline scripts or styles, no other origins, no framing.
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; font-src 'self'; "
    "connect-src 'self'; base-uri 'none'; frame-ancestors 'none'; form-action 'self'"
)
POLICY_HEADER = "Content-Security-Policy"
# The console's library evaluates the expressions in its pages (Alpine.js) and sets colours in style elements.
CONSOLE_POLICY = POLICY.replace("script-src 'self'", "script-src 'self' 'unsafe-eval'").replace(
    "style-src 'self'", "style-src 'self' 'unsafe-inline'"
)
CONSOLE = "/admin/"


class LiveAccounts:
    """Ends sessions of suspended and closed accounts, in the portal and in the console."""

    def __init__(self, get_response: Handler) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        """Sign the person out if the account is not live."""
        user = request.user if request.session.session_key else None
        if user is not None and user.is_authenticated and not user.is_live:
            logout(request)
        return self.get_response(request)


class ContentSecurityPolicy:
    """Sets the content security policy, unless the view has set one.

    Browsers also apply `form-action` to the redirects that follow a form. The redirect URIs of this session's
    authorization requests are therefore allowed, and those that a view lists in its response's `form_targets`.
    """

    def __init__(self, get_response: Handler) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        response = self.get_response(request)
        if POLICY_HEADER not in response:
            response[POLICY_HEADER] = _policy(request, response)
        return response


def _policy(request: HttpRequest, response: HttpResponse) -> str:
    if f"{request.path}/".startswith(CONSOLE):
        return CONSOLE_POLICY
    return " ".join([POLICY, *_targets(request, response)])


def _targets(request: HttpRequest, response: HttpResponse) -> list[str]:
    """Return the additional form targets; none for an error page, because its session may not be readable."""
    if response.status_code >= 500:
        return []
    return [*form_targets(request), *getattr(response, "form_targets", ())]


class NeverStored:
    """Keeps pages of a session out of every cache, the browser's own too: they show names, secrets and codes, which the
    next person at the machine must not find (RFC 9111 section 5.2.2.5). A view's `public` pages stay as they are.
    """

    def __init__(self, get_response: Handler) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        """Forbid storing the response if there was a session before it, or is one after it."""
        had_session = request.session.session_key is not None
        response = self.get_response(request)
        if (had_session or request.session.session_key) and "public" not in response.get("Cache-Control", ""):
            add_never_cache_headers(response)
        return response


class SeeOther:
    """Redirects with 303 after a form, so that browsers do not submit it again (RFC 9110 section 15.4.4)."""

    def __init__(self, get_response: Handler) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        """Change 302 after a POST to 303."""
        response = self.get_response(request)
        if request.method == "POST" and response.status_code == 302:
            response.status_code = 303
        return response


class Appearance:
    """Reads the appearance from the link, the referrer or the cookie, and remembers one that a link requests."""

    def __init__(self, get_response: Handler) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        """Set the request's appearance and store a requested one in the cookie."""
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
