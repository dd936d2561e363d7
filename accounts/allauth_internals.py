"""What the gateway uses of django-allauth's private and internal names, which any release may change (docs/decisions/0065)."""

import math
import time
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, NamedTuple

from allauth.account.adapter import DefaultAccountAdapter
from allauth.account.internal.flows.email_verification import send_verification_email_at_login
from allauth.account.internal.flows.login import record_authentication
from allauth.core.internal import ratelimit
from allauth.core.internal.ratelimit import RateLimitUsage, get_ip
from allauth.mfa.base.internal.flows import delete_dangling_recovery_codes
from allauth.socialaccount.models import SocialApp
from allauth.socialaccount.providers.openid_connect.views import OpenIDConnectOAuth2Adapter
from django.core.cache import cache
from django.http import HttpRequest

if TYPE_CHECKING:
    from fido2.webauthn import AuthenticatorData

__all__ = [
    "CountingAdapter",
    "IdTokenAdapter",
    "begin_passkey",
    "delete_dangling_recovery_codes",
    "get_ip",
    "passkey_answer",
    "passkey_challenge",
    "record_authentication",
    "send_verification_email_at_login",
    "uses_of",
]


class Uses(NamedTuple):
    """The uses of an action within the latest window, the most that are allowed, and the seconds until the oldest is forgotten."""

    most: int
    used: int
    reset_seconds: int


class CountingAdapter(DefaultAccountAdapter):
    """An adapter that decides itself which failed sign-ins are counted together."""

    def count_failure(self, request: HttpRequest, keys: Iterable[str]) -> bool:
        """Count a failed sign-in under each of these keys; allauth takes it back if the password is right. Return False, and count
        nothing, if one has too many.
        """
        self._login_failed_rl_usage = counted = RateLimitUsage(usage=[])
        for key in keys:
            usage = ratelimit.consume(request, app="allauth.account", action="login_failed", key=key)
            if not usage:
                counted.rollback()
                return False
            counted.usage.extend(usage.usage)
        return True

    def _delete_login_attempts_cached_email(self, request: HttpRequest, **credentials: Any) -> None:
        """Do nothing after a password was reset. allauth would forget the failures that it counts for an address."""


class IdTokenAdapter(OpenIDConnectOAuth2Adapter):
    """An adapter that checks what an identity provider's token claims."""

    def check_claims(self, app: SocialApp, claims: dict[str, Any]) -> None:
        """Hook: check the claims of a token whose signature was verified. Raises to refuse the sign-in."""
        raise NotImplementedError

    def _decode_id_token(self, app: SocialApp, id_token: str) -> dict[str, Any]:
        claims: dict[str, Any] = super()._decode_id_token(app, id_token)
        self.check_claims(app, claims)
        return claims


def uses_of(request: HttpRequest, *, app: str, action: str) -> Uses | None:
    """Return how often allauth has counted an action for the request's address or person, None if it does not limit it."""
    rates = ratelimit.get_rates(app=app, action=action)
    if not rates:
        return None
    rate, now = rates[0], time.time()
    history: list[float] = cache.get(ratelimit.get_cache_key(request, app=app, action=action, rate=rate), [])
    _, kept = ratelimit.apply_rate(list(history), now, rate, dry_run=True)
    oldest = kept[-1] if kept else now
    return Uses(rate.amount, len(kept), max(1, math.ceil(oldest + rate.duration - now)))


def begin_passkey(user: Any) -> Any:
    """Begin to add a passkey that can sign in, and return the options for the browser."""
    from allauth.mfa.webauthn.internal import auth  # it imports fido2, which only passkeys need

    return auth.begin_registration(user, passwordless=True)


def passkey_challenge() -> str:
    """Return the challenge of the request's session, empty if there is none."""
    from allauth.mfa.webauthn.internal import auth  # as above

    return str((auth.get_state() or {}).get("challenge", ""))


def passkey_answer(credential: Any) -> "AuthenticatorData":
    """Return what an authenticator says in its response to a challenge. Raises any error if it is malformed."""
    from allauth.mfa.webauthn.internal import auth  # as above

    return auth.parse_authentication_response(credential).response.authenticator_data
