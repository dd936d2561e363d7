"""Pages that change second factors, or show what changes depend on; serialized for each account."""

from collections.abc import Callable
from functools import wraps
from typing import Any

from allauth.mfa.recovery_codes import views as recovery_codes
from allauth.mfa.totp import views as totp
from allauth.mfa.webauthn import views as passkeys
from django.contrib.auth import HASH_SESSION_KEY, logout
from django.db import transaction
from django.http import HttpRequest
from django.utils import timezone
from django.utils.crypto import constant_time_compare

from accounts.allauth_internals import begin_passkey
from accounts.models import Account
from accounts.operations import enrolments, new_factors

View = Callable[..., Any]


def _serialized(view: View) -> View:
    @wraps(view)
    @transaction.atomic
    def page(request: HttpRequest, *args: Any, **kwargs: Any) -> Any:
        if isinstance(request.user, Account) and not _is_still_signed_in(request, request.user):
            logout(request)
        return view(request, *args, **kwargs)

    return page


def _recorded(view: View) -> View:
    """Record what the page adds to the account, if that is still signed in."""

    @wraps(view)
    def page(request: HttpRequest, *args: Any, **kwargs: Any) -> Any:
        if not isinstance(request.user, Account):
            return view(request, *args, **kwargs)
        with new_factors.recorded(request.user, now=timezone.now()):
            return view(request, *args, **kwargs)

    return page


def _is_still_signed_in(request: HttpRequest, account: Account) -> bool:
    """Return whether the session is still valid under the lock. An ended session must not add a factor."""
    current = enrolments.lock(account)
    known = request.session.get(HASH_SESSION_KEY, "")
    return current.is_live and constant_time_compare(known, current.get_session_auth_hash())


class AddPasskey(passkeys.AddWebAuthnView):
    """Asks the device for a passkey that can sign in: a discoverable one, with user verification."""

    def get_context_data(self, **context: Any) -> dict[str, Any]:
        """Return the page's context, with the options for creating the passkey."""
        shown = super().get_context_data(**context)
        return {**shown, "js_data": {"creation_options": begin_passkey(self.request.user)}}


activate_totp = _serialized(_recorded(totp.activate_totp))
deactivate_totp = _serialized(totp.deactivate_totp)
view_codes = _serialized(recovery_codes.view_recovery_codes)
download_codes = _serialized(recovery_codes.download_recovery_codes)
generate_codes = _serialized(recovery_codes.generate_recovery_codes)
add_passkey = _serialized(_recorded(AddPasskey.as_view()))
remove_passkey = _serialized(passkeys.remove_webauthn)
rename_passkey = _serialized(passkeys.edit_webauthn)
