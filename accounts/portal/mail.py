"""Mails that pages send: their links, which lead to the portal whatever host the request named, and whether one was not sent."""

from types import SimpleNamespace
from typing import Any
from urllib.parse import urlsplit, urlunsplit

from django.conf import settings
from django.http import HttpRequest

LINK = "_url"
"""The suffix of the context variables in which django-allauth passes links to mails."""

_UNSENT = "gateway.mail_unsent"


def with_portal_links(context: dict[str, Any]) -> dict[str, Any]:
    """Return a mail's context with its links below `PORTAL_URL`, and the portal as its site."""
    links = {name: portal_link(value) for name, value in context.items() if name.endswith(LINK)}
    host = urlsplit(settings.PORTAL_URL).netloc
    return {**context, **links, "current_site": SimpleNamespace(name=host, domain=host)}


def portal_link(url: str) -> str:
    """Return the URL of the same page at `PORTAL_URL`."""
    parts = urlsplit(url)
    return settings.PORTAL_URL + urlunsplit(("", "", parts.path, parts.query, parts.fragment))


def note_unsent(request: HttpRequest) -> None:
    """Note that a mail of this request could not be sent."""
    request.META[_UNSENT] = True


def is_unsent(request: HttpRequest) -> bool:
    """Return whether a mail of this request could not be sent."""
    return _UNSENT in request.META
