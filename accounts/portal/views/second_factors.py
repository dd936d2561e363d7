"""Pages that change second factors, or show what changes depend on; serialized for each account."""

from collections.abc import Callable
from functools import wraps
from typing import Any

from allauth.account.utils import get_next_redirect_url
from allauth.mfa.adapter import get_adapter
from allauth.mfa.models import Authenticator
from allauth.mfa.recovery_codes import views as recovery_codes
from allauth.mfa.totp import views as totp
from allauth.mfa.webauthn import views as passkeys
from django.contrib import messages
from django.contrib.auth import HASH_SESSION_KEY, logout
from django.contrib.auth.decorators import login_required
from django.db import transaction
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils import timezone
from django.utils.crypto import constant_time_compare
from django.utils.http import urlencode
from django.views.decorators.http import require_safe

from accounts.allauth_internals import begin_passkey, record_authentication
from accounts.models import Account
from accounts.operations import enrolments, new_factors
from accounts.portal import staff_factors
from accounts.queries.second_factors import has_factor

View = Callable[..., Any]

LAST_FACTOR = "The operator console needs a second factor. Add another one before you remove this one."


def _serialized(view: View) -> View:
    @wraps(view)
    @transaction.atomic
    def page(request: HttpRequest, *args: Any, **kwargs: Any) -> Any:
        if isinstance(request.user, Account) and not _is_still_signed_in(request, request.user):
            logout(request)
        if staff_factors.is_due(request) and has_factor(request.user):  # type: ignore[arg-type]
            return redirect(_to_pass(request, request.get_full_path()))
        return view(request, *args, **kwargs)

    return page


def _recorded(view: View) -> View:
    """Record what the page adds to the account, if that is still signed in. Whoever adds the first factor has passed it."""

    @wraps(view)
    def page(request: HttpRequest, *args: Any, **kwargs: Any) -> Any:
        account = request.user
        if not isinstance(account, Account):
            return view(request, *args, **kwargs)
        is_first = not has_factor(account)
        with new_factors.recorded(account, now=timezone.now()):
            answer = view(request, *args, **kwargs)
        if is_first and (added := Authenticator.objects.filter(user=account, type__in=new_factors.TYPES).first()):
            record_authentication(request, account, method="mfa", id=added.pk, type=added.type)
        return answer

    return page


def _kept(view: View) -> View:
    """Refuse to remove the last factor of an operator who needs one for the console."""

    @wraps(view)
    def page(request: HttpRequest, *args: Any, **kwargs: Any) -> Any:
        of_page = {"pk": kwargs["pk"]} if "pk" in kwargs else {"type": Authenticator.Type.TOTP}
        factor = Authenticator.objects.filter(user=request.user.pk, **of_page).first()
        if factor and not get_adapter().can_delete_authenticator(factor):
            messages.error(request, LAST_FACTOR)
            return redirect("mfa_index")
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
deactivate_totp = _serialized(_kept(totp.deactivate_totp))
view_codes = _serialized(recovery_codes.view_recovery_codes)
download_codes = _serialized(recovery_codes.download_recovery_codes)
generate_codes = _serialized(recovery_codes.generate_recovery_codes)
add_passkey = _serialized(_recorded(AddPasskey.as_view()))
remove_passkey = _serialized(_kept(passkeys.remove_webauthn))
rename_passkey = _serialized(passkeys.edit_webauthn)


@require_safe
@login_required
def open_console(request: HttpRequest) -> HttpResponse:
    """Lead an operator through the second factor to the console: to passing one, or to adding the first."""
    page = get_next_redirect_url(request) or reverse("admin:index")
    if not staff_factors.is_due(request):
        return HttpResponseRedirect(page)  # an address, which is not the name of a page
    if has_factor(request.user):  # type: ignore[arg-type]
        return redirect(_to_pass(request, page))
    return render(request, "mfa/console.html")


def _to_pass(request: HttpRequest, page: str) -> str:
    """Return the address at which the person passes a second factor, and then gets to the page."""
    has_app = Authenticator.objects.filter(user=request.user.pk, type=Authenticator.Type.TOTP).exists()
    name = "mfa_reauthenticate" if has_app else "mfa_reauthenticate_webauthn"
    return f"{reverse(name)}?{urlencode({'next': page})}"
