"""Product servers whose assertions are exchanged for tokens."""

from typing import Any

from django import forms
from django.contrib import admin
from django.core.exceptions import ValidationError

from accounts.models import Integration
from accounts.models.validators import validate_jwks
from accounts.rules import dids
from gateway.core.console import ConsoleAdmin, LinesField, ReadableJSONField
from gateway.core.contract.addresses import WEB_WORDS
from gateway.core.contract.capabilities import Capability


class JWKSField(ReadableJSONField):
    """Public keys as JSON, or as Python prints them: a set, or one key, which becomes a set of one."""

    default_error_messages = {"invalid": "This is not JSON. Enter what print(key.public_jwks()) shows."}

    def to_python(self, value: Any) -> Any:
        """Parse the input. A key without its set is put into one. Python prints single quotes, which no key contains."""
        try:
            parsed = super().to_python(value)
        except ValidationError:
            parsed = super().to_python(str(value).replace("'", '"'))
        is_key = isinstance(parsed, dict) and "kty" in parsed and "keys" not in parsed
        return {"keys": [parsed]} if is_key else parsed


class IntegrationForm(forms.ModelForm):
    """Checks what the file checks."""

    capabilities = LinesField(
        help_text=f"One per line: {', '.join(Capability)}, infer:<alias> for one alias, or infer:* for every alias."
    )
    jwks = JWKSField(
        label="JWKS",
        validators=[validate_jwks],
        help_text='Public keys only, as JSON: a set such as {"keys": [...]}, or one key.',
    )

    class Meta:
        model = Integration
        fields = ("issuer", "product", "audience", "did_prefix", "capabilities", "jwks", "enabled")

    def clean_issuer(self) -> str:
        """Refuse what no `iss` would match."""
        issuer: str = self.cleaned_data["issuer"]
        if not dids.is_party(issuer):
            raise ValidationError(f"This {WEB_WORDS}, or a DID.")
        return issuer


@admin.register(Integration)
class IntegrationAdmin(ConsoleAdmin):
    """Product servers whose assertions are exchanged for tokens."""

    form = IntegrationForm
    list_display = ("issuer", "product", "did_prefix", "enabled")
    list_filter = ("enabled", "product")
    list_select_related = ("product",)
    search_fields = ("issuer", "did_prefix")
    ordering = ("issuer",)
