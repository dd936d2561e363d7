"""What the portal's mails lead to: the portal, whatever host the request that caused a mail named."""

from types import SimpleNamespace
from typing import Any
from urllib.parse import urlsplit, urlunsplit

from django.conf import settings

LINK = "_url"
"""How the names of links end in the contexts of django-allauth's mails."""


def with_portal_links(context: dict[str, Any]) -> dict[str, Any]:
    """Return a mail's context with its links below `PORTAL_URL`, and the portal as the site that the mail speaks of."""
    links = {name: portal_link(value) for name, value in context.items() if name.endswith(LINK)}
    host = urlsplit(settings.PORTAL_URL).netloc
    return {**context, **links, "current_site": SimpleNamespace(name=host, domain=host)}


def portal_link(url: str) -> str:
    """Return the same page as `url` at the portal's own address."""
    parts = urlsplit(url)
    return settings.PORTAL_URL + urlunsplit(("", "", parts.path, parts.query, parts.fragment))
