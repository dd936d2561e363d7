"""Browsers that somebody signed in with before: what others guess at an account does not count against them.

A signed cookie says so. It signs nobody in, and outlives signing out.
"""

import secrets
from datetime import timedelta
from typing import Any

from django.conf import settings
from django.core import signing
from django.db.models import Q
from django.http import HttpRequest, HttpResponse

from accounts.models import Account

SALT = "accounts.portal.known_devices"
LIFETIME = timedelta(days=180)
ACCOUNTS_MAX = 5
"""How many accounts one browser is known for; the one that signed in longest ago goes first."""


def remember(request: HttpRequest, response: HttpResponse, account: Account) -> None:
    """Make this browser known for an account that has just signed in with it."""
    device, accounts = _read(request)
    known = [account.pk, *(pk for pk in accounts if pk != account.pk)][:ACCOUNTS_MAX]
    response.set_cookie(
        settings.KNOWN_DEVICE_COOKIE_NAME,
        signing.dumps([device or secrets.token_urlsafe(16), known], salt=SALT),
        max_age=LIFETIME,
        secure=settings.SESSION_COOKIE_SECURE,
        httponly=True,
        samesite="Lax",
    )


def device_of(request: HttpRequest, login: str) -> str | None:
    """Return this browser's id where it is known for the account that `login` names (an address or a DID)."""
    device, accounts = _read(request)
    if not accounts:
        return None
    named = Q(did=login) | Q(email__iexact=login) | Q(emailaddress__email__iexact=login)
    return device if Account.objects.filter(named, pk__in=accounts).exists() else None


def _read(request: HttpRequest) -> tuple[str | None, list[int]]:
    cookie = request.COOKIES.get(settings.KNOWN_DEVICE_COOKIE_NAME, "")
    try:
        found: Any = signing.loads(cookie, salt=SALT, max_age=LIFETIME)
    except signing.BadSignature:
        return None, []
    return found[0], found[1]
