"""Stores pending authorizations in the browser's session: the secret that binds them, and their redirect targets."""

import secrets
from urllib.parse import urlsplit

from django.http import HttpRequest

from accounts.models import AuthorizationRequest

SECRET = "authorization_secret"  # noqa: S105
TARGETS = "authorization_targets"
SECRET_BYTES = 32
TARGETS_MAX = 5


def browser_secret(request: HttpRequest) -> str:
    """Return the secret that binds authorization requests to this browser; create it if there is none.

    It survives sign-in, which changes the session's key but not its content.
    """
    if SECRET not in request.session:
        request.session[SECRET] = secrets.token_urlsafe(SECRET_BYTES)
    return str(request.session[SECRET])


def remember_target(request: HttpRequest, authorization: AuthorizationRequest) -> None:
    """Store an authorization's redirect target, so that the content security policy allows it.

    A policy cannot name an IPv6 address (CSP 3 section 2.3.1), so the target is then the scheme, as that of an app is.
    """
    parts = urlsplit(authorization.redirect_uri)
    is_host = parts.netloc and not parts.netloc.startswith("[")
    target = f"{parts.scheme}://{parts.netloc}" if is_host else f"{parts.scheme}:"
    others = [one for one in request.session.get(TARGETS, []) if one != target]
    request.session[TARGETS] = [*others, target][-TARGETS_MAX:]


def form_targets(request: HttpRequest) -> list[str]:
    """Return the targets outside the portal that this session's forms may redirect to."""
    session = getattr(request, "session", None)
    return list(session.get(TARGETS, [])) if session is not None else []
