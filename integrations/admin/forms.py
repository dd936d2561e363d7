"""Form fields for secrets of webhooks and runners."""

from typing import Any

from django import forms
from unfold.widgets import UnfoldBooleanSwitchWidget

from gateway.core.console import SecretField


class SecretForm(forms.ModelForm):
    """Accepts a webhook's or runner's secret without ever showing it. The help mentions a stored secret only if there
    is one.
    """

    secret = SecretField(
        label="New secret", help_text="Stored encrypted and never shown. Leave blank to keep the stored secret."
    )

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        if self.instance._state.adding:  # noqa: SLF001 (documented)
            self.fields["secret"].label, self.fields["secret"].help_text = "Secret", "Stored encrypted and never shown."

    def clean_secret(self) -> str:
        """Keep the stored secret if none was entered."""
        typed: str = self.cleaned_data["secret"].strip()
        return typed or self.instance.secret


class RotatingSecretForm(SecretForm):
    """Also accepts the previous secret, which is valid until it is removed."""

    previous_secret = SecretField(
        label="Previous secret",
        help_text="Also accepted until the sender uses the new one. Leave blank to keep what is stored.",
    )
    remove_previous_secret = forms.BooleanField(
        required=False, label="Remove the previous secret", widget=UnfoldBooleanSwitchWidget
    )

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        if self.instance._state.adding:  # noqa: SLF001 (documented)
            self.fields["previous_secret"].help_text = "Also accepted until the sender uses the new one."

    def clean_previous_secret(self) -> str:
        typed: str = self.cleaned_data["previous_secret"].strip()
        return typed or self.instance.previous_secret

    def clean(self) -> dict[str, Any]:
        """Remove the previous secret if requested."""
        cleaned = super().clean() or {}
        if cleaned.get("remove_previous_secret"):
            cleaned["previous_secret"] = ""
        return cleaned
