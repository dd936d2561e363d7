"""Forms of secrets that others sign with."""

from typing import Any

from django import forms
from unfold.widgets import UnfoldBooleanSwitchWidget

from gateway.core.console import SecretField


class SecretForm(forms.ModelForm):
    """Takes a webhook's or runner's secret without ever showing it."""

    secret = SecretField(
        label="New secret", help_text="Stored encrypted and never shown. Leave blank to keep the stored secret."
    )

    def clean_secret(self) -> str:
        """Keep the stored secret where none was typed."""
        typed: str = self.cleaned_data["secret"].strip()
        return typed or self.instance.secret


class RotatingSecretForm(SecretForm):
    """Takes the secret before it too, which is accepted until it is removed."""

    previous_secret = SecretField(
        label="Previous secret",
        help_text="Accepted too, until whoever signs has the new one. Leave blank to keep what is stored.",
    )
    remove_previous_secret = forms.BooleanField(
        required=False, label="Remove the previous secret", widget=UnfoldBooleanSwitchWidget
    )

    def clean_previous_secret(self) -> str:
        """Keep the stored secret where none was typed."""
        typed: str = self.cleaned_data["previous_secret"].strip()
        return typed or self.instance.previous_secret

    def clean(self) -> dict[str, Any]:
        """Remove the previous secret where that was asked for."""
        cleaned = super().clean() or {}
        if cleaned.get("remove_previous_secret"):
            cleaned["previous_secret"] = ""
        return cleaned
