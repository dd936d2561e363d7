"""The forms of passkeys: what people call theirs, and what a browser, or anybody in its place, sends of one."""

import json
import struct
from collections.abc import Callable
from typing import Any

from allauth.mfa.adapter import get_adapter
from allauth.mfa.models import Authenticator
from allauth.mfa.webauthn import forms as allauth
from django import forms

from gateway.api.json import strict_loads
from gateway.api.names import validate_name
from gateway.contract.errors import InvalidJson
from gateway.contract.limits import PASSKEYS_MAX
from gateway.contract.names import cleaned

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


def _read(read: Callable[[], Any]) -> Any:
    """Return what a form reads of a credential, or raise the form's error where the credential is an odd one."""
    try:
        return read()
    except ODD_CREDENTIALS:
        raise get_adapter().validation_error("incorrect_code") from None


CREDENTIAL = forms.JSONField(widget=forms.HiddenInput, decoder=StrictDecoder)


class AuthenticateForm(allauth.AuthenticateWebAuthnForm):
    """Takes a passkey as the second factor."""

    credential = CREDENTIAL

    def clean_credential(self) -> Any:
        """Return the person's passkey."""
        return _read(super().clean_credential)


class SignInForm(AuthenticateForm, allauth.LoginWebAuthnForm):
    """Takes a passkey instead of a password."""


class ReauthenticateForm(AuthenticateForm, allauth.ReauthenticateWebAuthnForm):
    """Takes a passkey of somebody who is signed in."""


class AddPasskeyForm(allauth.AddWebAuthnForm):
    """Takes a new passkey. It exists already when its name is sent, so the name is cleaned instead of refused."""

    credential = CREDENTIAL

    def clean_name(self) -> str:
        """Return the name as it may be kept."""
        self.cleaned_data["name"] = cleaned(self.cleaned_data["name"]).strip()
        return str(super().clean_name())

    def clean(self) -> dict[str, Any]:
        """Return what the passkey is, unless the person has too many."""
        if Authenticator.objects.filter(user=self.user, type=Authenticator.Type.WEBAUTHN).count() >= PASSKEYS_MAX:
            raise forms.ValidationError(f"You have {PASSKEYS_MAX} passkeys. Remove one first.")
        return dict(_read(super().clean))


class RenamePasskeyForm(allauth.EditWebAuthnForm):
    """Renames a passkey."""

    name = forms.CharField(required=True, max_length=100, validators=[validate_name])
