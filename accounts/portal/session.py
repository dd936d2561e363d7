"""What a browser's session keeps of authorizations that wait: what binds them to it, and where they will lead."""

import secrets
from urllib.parse import urlsplit

from django.http import HttpRequest

from accounts.models import AuthorizationRequest

SECRET = "authorization_secret"  # noqa: S105
TARGETS = "authorization_targets"
SECRET_BYTES = 32
TARGETS_MAX = 5


def browser_secret(request: HttpRequest) -> str:
    """Return the secret that binds authorization requests to this browser, making it where there is none.

    It survives signing in, which changes the session's key and keeps its content.
    """
    if SECRET not in request.session:
        request.session[SECRET] = secrets.token_urlsafe(SECRET_BYTES)
    return str(request.session[SECRET])


def remember_target(request: HttpRequest, authorization: AuthorizationRequest) -> None:
    """Note where an authorization will lead, so that the pages' policy lets its answer go there."""
    parts = urlsplit(authorization.redirect_uri)
    target = f"{parts.scheme}://{parts.netloc}" if parts.netloc else f"{parts.scheme}:"
    others = [one for one in request.session.get(TARGETS, []) if one != target]
    request.session[TARGETS] = [*others, target][-TARGETS_MAX:]


def form_targets(request: HttpRequest) -> list[str]:
    """List where forms of this session's pages may lead, besides the portal itself."""
    session = getattr(request, "session", None)
    return list(session.get(TARGETS, [])) if session is not None else []
