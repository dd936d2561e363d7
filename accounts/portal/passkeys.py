"""The forms of passkeys: what people call theirs, and what a browser, or anybody in its place, sends of one."""

import json
import struct
from collections.abc import Callable
from typing import Any

from allauth.mfa.adapter import get_adapter
from allauth.mfa.models import Authenticator
from allauth.mfa.webauthn import forms as allauth
from allauth.mfa.webauthn.internal import auth
from django import forms
from django.core.exceptions import ValidationError
from fido2.webauthn import AuthenticatorData

from accounts.operations import enrolments
from gateway.core.api.json import strict_loads
from gateway.core.api.names import validate_name
from gateway.core.contract.errors import InvalidJson
from gateway.core.contract.limits import PASSKEYS_MAX
from gateway.core.contract.names import cleaned

# What reading a credential with missing, mistyped or broken members raises.
ODD_CREDENTIALS = (LookupError, TypeError, ValueError, AttributeError, OverflowError, RecursionError, struct.error)


class StrictDecoder(json.JSONDecoder):
    """Reads what every JSON body of the API may be; anything else is no JSON for a form's field."""

    def decode(self, s: str, **options: Any) -> dict[str, Any]:  # type: ignore[override]
        """Return an object, or raise JSONDecodeError."""
        try:
            return strict_loads(s.encode())
        except (InvalidJson, UnicodeEncodeError):
            raise json.JSONDecodeError("not a JSON object", "", 0) from None


def _once(read: Callable[[], Any]) -> Any:
    """Return what a form reads of a credential, which answers the session's challenge and is the first to do so.

    Raises the form's error, also where the credential is an odd one.
    """
    challenge = (auth.get_state() or {}).get("challenge", "")
    try:
        found = read()
    except ODD_CREDENTIALS:
        raise _incorrect() from None
    if not enrolments.spend(challenge):
        raise _incorrect()
    return found


def _incorrect() -> ValidationError:
    return get_adapter().validation_error("incorrect_code")


CREDENTIAL = forms.JSONField(widget=forms.HiddenInput, decoder=StrictDecoder)


class AuthenticateForm(allauth.AuthenticateWebAuthnForm):
    """Takes a passkey as the second factor."""

    credential = CREDENTIAL

    def clean_credential(self) -> Any:
        """Return the person's passkey, whose answer serves once."""
        sent = self.cleaned_data["credential"]
        passkey = _once(super().clean_credential)
        said = auth.parse_authentication_response(sent).response.authenticator_data
        registered = passkey.wrap().authenticator_data.counter
        if not self.accepts(said) or not enrolments.count(passkey, said.counter, registered=registered):
            raise _incorrect()
        return passkey

    def accepts(self, said: AuthenticatorData) -> bool:
        """Return whether the authenticator vouches for enough: that a person was present."""
        return said.is_user_present()


class SignInForm(AuthenticateForm, allauth.LoginWebAuthnForm):
    """Takes a passkey instead of a password."""

    def accepts(self, said: AuthenticatorData) -> bool:
        """Return whether the person was verified, whatever page the challenge is from: a key alone is only a second factor."""
        return said.is_user_verified()


class ReauthenticateForm(AuthenticateForm, allauth.ReauthenticateWebAuthnForm):
    """Takes a passkey of somebody who is signed in."""


class AddPasskeyForm(allauth.AddWebAuthnForm):
    """Takes a new passkey, which can sign its person in without a password.

    It exists already when its name is sent, so the name is cleaned instead of refused.
    """

    credential = CREDENTIAL
    passwordless = None  # not a choice: every passkey is

    def clean_name(self) -> str:
        """Return the name as it may be kept."""
        self.cleaned_data["name"] = cleaned(self.cleaned_data["name"]).strip()
        return str(super().clean_name())

    def clean(self) -> dict[str, Any]:
        """Return what the passkey is, unless the person has too many."""
        if Authenticator.objects.filter(user=self.user, type=Authenticator.Type.WEBAUTHN).count() >= PASSKEYS_MAX:
            raise forms.ValidationError(
                f"You already have {PASSKEYS_MAX} passkeys, which is the maximum. Remove one first."
            )
        return dict(_once(self._read) if "credential" in self.cleaned_data else super().clean())

    def _read(self) -> dict[str, Any]:
        """Return what was sent. Raises the form's error where the person was not verified or the key is not discoverable."""
        self.cleaned_data["passwordless"] = True
        found: dict[str, Any] = super().clean()
        extensions = self.cleaned_data["credential"].get("clientExtensionResults") or {}
        if (extensions.get("credProps") or {}).get("rk") is False:
            raise forms.ValidationError("This device cannot store a passkey for signing in. Choose another device.")
        return found


class RenamePasskeyForm(allauth.EditWebAuthnForm):
    """Renames a passkey."""

    name = forms.CharField(required=True, max_length=100, validators=[validate_name])
