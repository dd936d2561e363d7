"""Browsers that somebody signed in with before: what others guess at an account does not count against them.

A signed cookie says so. It signs nobody in, and outlives signing out, but neither a new password nor a suspension: who knew
the password before, or has copied the cookie, is a stranger then.
"""

import secrets
from datetime import timedelta
from typing import Any

from django.conf import settings
from django.core import signing
from django.db.models import Q
from django.http import HttpRequest, HttpResponse
from django.utils.crypto import constant_time_compare, salted_hmac

from accounts.models import Account

SALT = "accounts.portal.known_devices"
LIFETIME = timedelta(days=180)
MARK_CHARACTERS = 16
ACCOUNTS_MAX = 5
"""How many accounts one browser is known for; the one that signed in longest ago goes first."""


Known = dict[str, str]
"""For each account, by its number, a mark of the password that was right, the latest first."""


def remember(request: HttpRequest, response: HttpResponse, account: Account) -> None:
    """Make this browser known for an account that has just signed in with it."""
    device, others = _read(request)
    known = {str(account.pk): _mark(account), **{pk: mark for pk, mark in others.items() if pk != str(account.pk)}}
    latest = dict(list(known.items())[:ACCOUNTS_MAX])
    response.set_cookie(
        settings.KNOWN_DEVICE_COOKIE_NAME,
        signing.dumps([device or secrets.token_urlsafe(16), latest], salt=SALT),
        max_age=LIFETIME,
        secure=settings.SESSION_COOKIE_SECURE,
        httponly=True,
        samesite="Lax",
    )


def device_of(request: HttpRequest, login: str) -> str | None:
    """Return this browser's id where it is known for the account that `login` names (an address or a DID)."""
    device, known = _read(request)
    if not known:
        return None
    named = Q(did=login) | Q(email__iexact=login) | Q(emailaddress__email__iexact=login)
    accounts = Account.objects.filter(named, pk__in=known).distinct()
    is_known = any(constant_time_compare(_mark(account), known[str(account.pk)]) for account in accounts)
    return device if is_known else None


def _mark(account: Account) -> str:
    """Return what changes with whatever ends the account's sessions."""
    return salted_hmac(SALT, account.get_session_auth_hash()).hexdigest()[:MARK_CHARACTERS]


def _read(request: HttpRequest) -> tuple[str | None, Known]:
    cookie = request.COOKIES.get(settings.KNOWN_DEVICE_COOKIE_NAME, "")
    try:
        found: Any = signing.loads(cookie, salt=SALT, max_age=LIFETIME)
    except signing.BadSignature:
        return None, {}
    device, known = found
    return device, known if isinstance(known, dict) else {}  # a list of numbers is of an older version
