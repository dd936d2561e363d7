"""Forms for adding, using and renaming passkeys. Credentials are not trusted, because anyone can submit them."""

import json
import struct
from collections.abc import Callable
from typing import Any

from allauth.mfa.adapter import get_adapter
from allauth.mfa.models import Authenticator
from allauth.mfa.webauthn import forms as allauth
from django import forms
from django.core.exceptions import ValidationError
from fido2.webauthn import AuthenticatorData

from accounts.allauth_internals import passkey_answer, passkey_challenge
from accounts.operations import enrolments
from gateway.core.api.names import validate_name
from gateway.core.contract.errors import InvalidJson
from gateway.core.contract.limits import PASSKEYS_MAX
from gateway.core.contract.names import cleaned
from gateway.core.json.strict import strict_loads

# The errors that the library raises for a credential with missing or malformed members.
CREDENTIAL_ERRORS = (LookupError, TypeError, ValueError, AttributeError, OverflowError, RecursionError, struct.error)


class StrictDecoder(json.JSONDecoder):
    """Decodes JSON as strictly as the API does."""

    def decode(self, s: str, **options: Any) -> dict[str, Any]:  # type: ignore[override]
        """Return an object, or raise JSONDecodeError."""
        try:
            return strict_loads(s.encode())
        except (InvalidJson, UnicodeEncodeError):
            raise json.JSONDecodeError("not a JSON object", "", 0) from None


def _accept_once(read: Callable[[], Any]) -> Any:
    """Return what a form reads from a credential, if it is the first response to the session's challenge.

    Raises the form's error otherwise, and for malformed credentials.
    """
    challenge = passkey_challenge()
    try:
        found = read()
    except CREDENTIAL_ERRORS:
        raise _incorrect() from None
    if not enrolments.spend(challenge):
        raise _incorrect()
    return found


def _incorrect() -> ValidationError:
    return get_adapter().validation_error("incorrect_code")


CREDENTIAL = forms.JSONField(widget=forms.HiddenInput, decoder=StrictDecoder)


class AuthenticateForm(allauth.AuthenticateWebAuthnForm):
    """Accepts a passkey as the second factor."""

    credential = CREDENTIAL

    def clean_credential(self) -> Any:
        """Return the person's passkey. Its response is accepted once."""
        sent = self.cleaned_data["credential"]
        passkey = _accept_once(super().clean_credential)
        data = passkey_answer(sent)
        registered = passkey.wrap().authenticator_data.counter
        if not self.accepts(data) or not enrolments.count(passkey, data.counter, registered=registered):
            raise _incorrect()
        return passkey

    def accepts(self, data: AuthenticatorData) -> bool:
        """Return whether the authenticator confirms enough: user presence."""
        return data.is_user_present()


class SignInForm(AuthenticateForm, allauth.LoginWebAuthnForm):
    """Accepts a passkey instead of a password."""

    def accepts(self, data: AuthenticatorData) -> bool:
        """Return whether the authenticator verified the user, whichever page issued the challenge. Without that it is
        only a second factor.
        """
        return data.is_user_verified()


class ReauthenticateForm(AuthenticateForm, allauth.ReauthenticateWebAuthnForm):
    """Accepts a passkey for reauthentication."""


class AddPasskeyForm(allauth.AddWebAuthnForm):
    """Adds a passkey that can sign in without a password.

    The device has created the passkey before the form is sent, so an invalid name is cleaned, not refused.
    """

    credential = CREDENTIAL
    passwordless = None  # removes the field: every passkey is passwordless

    def clean_name(self) -> str:
        self.cleaned_data["name"] = cleaned(self.cleaned_data["name"]).strip()
        return str(super().clean_name())

    def clean(self) -> dict[str, Any]:
        """Return the new passkey's data, unless the person has too many passkeys."""
        if Authenticator.objects.filter(user=self.user, type=Authenticator.Type.WEBAUTHN).count() >= PASSKEYS_MAX:
            raise forms.ValidationError(
                f"You already have {PASSKEYS_MAX} passkeys, which is the maximum. Remove one first."
            )
        return dict(_accept_once(self._read) if "credential" in self.cleaned_data else super().clean())

    def _read(self) -> dict[str, Any]:
        """Return the form's data. Raises the form's error if the user was not verified or the key is not
        discoverable.
        """
        self.cleaned_data["passwordless"] = True
        found: dict[str, Any] = super().clean()
        extensions = self.cleaned_data["credential"].get("clientExtensionResults") or {}
        if (extensions.get("credProps") or {}).get("rk") is False:
            raise forms.ValidationError("This device cannot store a passkey for signing in. Choose another device.")
        return found


class RenamePasskeyForm(allauth.EditWebAuthnForm):
    """Renames a passkey."""

    name = forms.CharField(required=True, max_length=100, validators=[validate_name])
