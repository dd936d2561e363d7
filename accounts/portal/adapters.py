"""Adapts django-allauth to the gateway's accounts: sign-up, sign-in, mail and email addresses."""

import logging
from typing import Any

from allauth.account.models import EmailAddress
from allauth.core import ratelimit
from allauth.core.exceptions import ImmediateHttpResponse
from django.conf import settings
from django.contrib import messages
from django.db import IntegrityError, transaction
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.urls import reverse
from django.utils import timezone
from django.utils.http import url_has_allowed_host_and_scheme

from accounts.allauth_internals import CountingAdapter, get_ip
from accounts.models import Account
from accounts.operations import addresses, devices
from accounts.portal import known_devices
from accounts.portal.mail import is_unsent, note_unsent, with_portal_links
from accounts.queries.logins import counted_as
from accounts.rules.dids import portal_did
from gateway.core.contract.ids import new_id
from gateway.core.http.addresses import plain_address

log = logging.getLogger("accounts.mails")

BEGUN = "sign_in_begun"
"""The session key that stores the account's session hash from the start of a sign-in."""


SENT = "account/messages/email_confirmation_sent.txt"
MAIL_NOT_SENT = "The mail could not be sent. Try again in a few minutes."

CONFIRMATIONS = {
    "reauthenticate": "Use your password",
    "mfa_reauthenticate": "Use a code",
    "mfa_reauthenticate:webauthn": "Use a passkey",
}

ERRORS = {
    "duplicate_email": "This account already has this email address.",
    "email_password_mismatch": "The email address or the password is not correct.",
    "email_taken": "An account with this email address already exists.",
    "enter_current_password": "Your current password is not correct.",
    "invalid_password_reset": "This link has expired or is not valid.",
    "max_email_addresses": "You cannot have more than %d email addresses.",
    "too_many_login_attempts": "Too many failed sign-in attempts. Try again later.",
}
"""Replacements for some of django-allauth's messages."""


class AccountAdapter(CountingAdapter):
    """Creates portal accounts with a DID, admits only live accounts, and limits sign-in attempts and mail."""

    error_messages = {**CountingAdapter.error_messages, **ERRORS}

    def new_user(self, request: HttpRequest) -> Account:
        """Return an unsaved account. Its wallet is created on first use."""
        return Account(did=portal_did(settings.PORTAL_URL, new_id("acc")))

    def save_user(self, request: HttpRequest, user: Account, form: Any, commit: bool = True) -> Account:
        """Save a new account. Of two concurrent sign-ups with one address, the second is redirected to sign in."""
        try:
            with transaction.atomic():
                return super().save_user(request, user, form, commit=commit)
        except IntegrityError:
            messages.error(request, "An account with this address was just created. Sign in to it.")
            raise ImmediateHttpResponse(redirect("account_login")) from None

    def set_password(self, user: Account, password: str) -> None:
        """Set a changed or reset password, sign out all devices, and forget passwords that failed before."""
        super().set_password(user, password)
        devices.revoke_all(account=user, now=timezone.now())
        ratelimit.clear(self.request, action="login_failed", key=_failures_key(self.request, str(user.pk)))

    def get_client_ip(self, request: HttpRequest) -> str:
        """Return the client's IP address. An IPv4-mapped address becomes plain IPv4, because all mapped ones would
        share one limit.
        """
        return plain_address(super().get_client_ip(request))

    def pre_authenticate(self, request: HttpRequest, **credentials: Any) -> None:
        """Count a sign-in attempt, and refuse it beyond the limits for its browser or IP address. A browser that is known
        for one of the accounts that have the address is an unknown one for the others.
        """
        strange = []
        for account in counted_as(_login_of(credentials)):
            if device := known_devices.device_of(request, account):
                self._limit(request, "login_known_device", f"{device}:{account}")
            else:
                strange.append(account)
        if strange:
            self._limit(request, "login_address", None)
            self._count_failure(request, strange)

    def _limit(self, request: HttpRequest, action: str, key: str | None) -> None:
        if not ratelimit.consume(request, action=action, key=key):
            raise self.validation_error("too_many_login_attempts")

    def _count_failure(self, request: HttpRequest, accounts: list[str]) -> None:
        """Count a failure for each of these accounts; django-allauth takes it back if the password is right.

        After a reset, `set_password` forgets the account's failures, not those of an address, which may be a claim to
        somebody else's.
        """
        if not self.count_failure(request, [_failures_key(request, account) for account in accounts]):
            raise self.validation_error("too_many_login_attempts")

    def pre_login(self, request: HttpRequest, user: Account, **more: Any) -> HttpResponse | None:
        """Return the response that refuses an account that is not live, before any second factor."""
        refused = super().pre_login(request, user, **more)
        request.session[BEGUN] = user.get_session_auth_hash()
        return refused if refused or user.is_live else self.respond_user_inactive(request, user)

    def login(self, request: HttpRequest, user: Account) -> None:
        """Begin a session, unless the account's sessions were ended between the first and the second factor."""
        if not user.is_live:
            raise ImmediateHttpResponse(self.respond_user_inactive(request, user))
        if request.session.pop(BEGUN, None) != user.get_session_auth_hash():
            messages.error(request, "This account was changed while you were signing in. Sign in again.")
            raise ImmediateHttpResponse(redirect("account_login"))
        super().login(request, user)

    def post_login(self, request: HttpRequest, user: Account, **more: Any) -> HttpResponse:
        """Mark the browser as known for the account, and continue."""
        response = super().post_login(request, user, **more)
        known_devices.remember(request, response, user)
        return response

    def get_reauthentication_methods(self, user: Any) -> list[dict[str, Any]]:
        """Return the ways to reauthenticate, with the portal's descriptions."""
        methods = super().get_reauthentication_methods(user)
        return [{**one, "description": CONFIRMATIONS.get(one["id"], one["description"])} for one in methods]

    def send_mail(self, template_prefix: str, email: str, context: dict[str, Any]) -> None:
        """Send a mail whose links use the portal's own host, whatever the request's host was. Mail to one mailbox is
        limited. If the mail server is away, the page says so.
        """
        key = f"{get_ip(self.request)}:{email.lower()}"
        if not ratelimit.consume(self.request, action="mail", key=key):
            return
        try:
            super().send_mail(template_prefix, email, with_portal_links(context))
        except OSError as error:  # SMTPException is one
            log.error("a mail (%s) was not sent: %s", template_prefix, error)
            if not is_unsent(self.request):  # the number of accounts with an address is not shown either
                messages.error(self.request, MAIL_NOT_SENT)
            note_unsent(self.request)

    def add_message(
        self, request: HttpRequest, level: int, message_template: str | None = None, *more: Any, **of: Any
    ) -> None:
        """Show a message, unless it says that a mail was sent that was not."""
        if not (message_template == SENT and is_unsent(request)):
            super().add_message(request, level, message_template, *more, **of)

    def send_password_reset_mail(self, user: Account, email: str, context: dict[str, Any]) -> None:
        """Send a password reset link, or that the account is suspended. Each address gets a mail, one without an account too, so that
        neither the page nor the time it takes shows a stranger which it is, even while the mail server is away.
        """
        if user.is_live:
            super().send_password_reset_mail(user, email, context)
        else:
            self.send_mail("account/email/account_suspended", email, {})

    def confirm_email(self, request: HttpRequest, email_address: EmailAddress) -> bool:
        """Assign an address to the account that verified it; return False if another account was first."""
        try:
            with transaction.atomic():
                addresses.release(email_address.email, keep=email_address.user)
                return super().confirm_email(request, email_address) and addresses.settle(email_address)
        except IntegrityError:
            return False

    def is_safe_url(self, url: str) -> bool:
        host = self.request.get_host()
        return url_has_allowed_host_and_scheme(url, allowed_hosts={host}, require_https=self.request.is_secure())

    def get_login_redirect_url(self, request: HttpRequest) -> str:
        """Return the home page, for sign-ins without a `next`."""
        return reverse("portal_home")


def display_name(account: Account) -> str:
    """Return a person's name for messages, if possible not the DID, which is for machines."""
    return account.display_name or account.email or account.did


def _login_of(credentials: dict[str, Any]) -> str:
    return str(credentials.get("email") or credentials.get("username") or "")


def _failures_key(request: HttpRequest, account: str) -> str:
    """Return the key of a failure count: IP address and account together."""
    return f"{get_ip(request)}:{account}"
