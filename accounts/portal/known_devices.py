"""Recognizes browsers that an account has signed in from, so that other people's guesses do not lock them out.

A signed cookie identifies them. It does not authenticate anyone and survives signing out. A new password or a
suspension invalidates it, so that a copied cookie or knowledge of the old password no longer helps.
"""

import secrets
from datetime import timedelta
from typing import Any

from django.conf import settings
from django.core import signing
from django.http import HttpRequest, HttpResponse
from django.utils.crypto import constant_time_compare, salted_hmac

from accounts.models import Account

SALT = "accounts.portal.known_devices"
LIFETIME = timedelta(days=180)
MARK_CHARACTERS = 16
ACCOUNTS_MAX = 5
"""The number of accounts that one browser is known for. The one that signed in longest ago is dropped first."""


Known = dict[str, str]
"""A mark of the session hash for each account id, latest sign-in first."""


def remember(request: HttpRequest, response: HttpResponse, account: Account) -> None:
    """Mark this browser as known for an account that has just signed in."""
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


def device_of(request: HttpRequest, account_id: str) -> str | None:
    """Return this browser's id if it is known for an account."""
    device, known = _read(request)
    account = Account.objects.filter(pk=account_id).first() if account_id in known else None
    is_known = account is not None and constant_time_compare(_mark(account), known[account_id])
    return device if is_known else None


def _mark(account: Account) -> str:
    """Return a value that changes whenever the account's sessions are ended."""
    return salted_hmac(SALT, account.get_session_auth_hash()).hexdigest()[:MARK_CHARACTERS]


def _read(request: HttpRequest) -> tuple[str | None, Known]:
    cookie = request.COOKIES.get(settings.KNOWN_DEVICE_COOKIE_NAME, "")
    try:
        found: Any = signing.loads(cookie, salt=SALT, max_age=LIFETIME)
    except signing.BadSignature:
        return None, {}
    device, known = found
    return device, known if isinstance(known, dict) else {}  # older versions stored a list of numbers
