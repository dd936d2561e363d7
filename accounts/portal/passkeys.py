"""What people call their passkeys."""

from allauth.mfa.webauthn import forms as allauth
from django import forms

from gateway.api.names import validate_name
from gateway.contract.names import cleaned


class AddPasskeyForm(allauth.AddWebAuthnForm):
    """Takes a new passkey. It exists already when its name is sent, so the name is cleaned instead of refused."""

    def clean_name(self) -> str:
        """Return the name as it may be kept."""
        self.cleaned_data["name"] = cleaned(self.cleaned_data["name"]).strip()
        return str(super().clean_name())


class RenamePasskeyForm(allauth.EditWebAuthnForm):
    """Renames a passkey."""

    name = forms.CharField(required=True, max_length=100, validators=[validate_name])
