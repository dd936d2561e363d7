"""Product servers whose assertions are exchanged for tokens: their keys, a test of an assertion, and what was refused."""

from typing import Any

from django import forms
from django.contrib import admin, messages
from django.core.exceptions import ValidationError
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect
from django.template.response import TemplateResponse
from django.utils import timezone
from django.utils.html import format_html_join
from unfold.decorators import action, display
from unfold.widgets import (
    UnfoldAdminFileFieldWidget,
    UnfoldAdminTextareaWidget,
    UnfoldAdminTextInputWidget,
    UnfoldBooleanSwitchWidget,
)

from accounts.models import Integration, RefusedAssertion
from accounts.models.validators import validate_jwks
from accounts.operations import integration_keys
from accounts.queries import assertion_tests
from accounts.rules import dids, jwk, key_files
from accounts.rules.assertion import ASSERTION_MAX_BYTES
from accounts.rules.assertion_report import CAUSES, FAILED
from gateway.core.console import (
    ConsoleAdmin,
    LinesField,
    ReadableJSONField,
    ReadOnlyInline,
    ReasonField,
    may_act,
)
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


class _TypedAnew(UnfoldAdminTextareaWidget):
    """A text that no page shows again: it may be a private key, or an assertion that is still good."""

    def __init__(self, rows: int) -> None:
        super().__init__(attrs={"rows": rows, "class": "font-mono", "spellcheck": "false"})

    def format_value(self, value: Any) -> str:
        return ""


class KeysForm(forms.Form):
    """Public keys, as a file or pasted, and why."""

    file = forms.FileField(
        required=False,
        label="File",
        help_text="A JWK set or one JWK (JSON), or a public key as PEM.",
        widget=UnfoldAdminFileFieldWidget,
    )
    text = forms.CharField(
        required=False,
        label="Or paste it",
        max_length=key_files.KEY_FILE_MAX_BYTES,
        widget=_TypedAnew(10),
    )
    kid = forms.CharField(
        required=False,
        label="Key ID (kid)",
        max_length=255,
        help_text="For a key that has none: what the product's assertions name in their header. Needed if there are several keys.",
        widget=UnfoldAdminTextInputWidget,
    )
    replaces = forms.BooleanField(
        required=False,
        label="Replace the keys that are there",
        help_text="Assertions that they signed are refused at once. Without it, old and new keys are valid side by side.",
        widget=UnfoldBooleanSwitchWidget,
    )
    reason = ReasonField()

    def clean(self) -> dict[str, Any]:
        """Read the keys from what was given."""
        cleaned = super().clean() or {}
        file, text = cleaned.get("file"), cleaned.get("text") or ""
        if file and text.strip():
            raise ValidationError("Choose a file or paste the keys, not both.")
        if file:
            text = file.read(key_files.KEY_FILE_MAX_BYTES + 1).decode("utf-8", "replace")
        if not self.errors:
            try:
                cleaned["keys"] = key_files.parse(text, (cleaned.get("kid") or "").strip())
            except key_files.KeyFileRefused as refused:
                raise ValidationError(str(refused)) from None
        return cleaned


class AssertionForm(forms.Form):
    """An assertion to test. It is neither stored nor shown again."""

    assertion = forms.CharField(
        label="Assertion",
        max_length=ASSERTION_MAX_BYTES,
        help_text="The JWT that the product's server would send. It is neither used up, stored nor logged.",
        widget=_TypedAnew(6),
    )


class RefusalsInline(ReadOnlyInline):
    """Why assertions of the integration were refused in the last 14 days."""

    model = RefusedAssertion
    verbose_name_plural = "Refused assertions of the last 14 days"
    hide_title = True
    fields = ("cause_shown", "count", "last_at", "latest_shown")
    ordering = ("-last_at",)

    @display(description="Check that failed")
    def cause_shown(self, refusal: RefusedAssertion) -> str:
        return CAUSES.get(refusal.cause, refusal.cause)

    @display(description="Latest")
    def latest_shown(self, refusal: RefusedAssertion) -> str:
        """List the latest refusals, with the request's id, by which its log lines are found."""
        rows = ((one["at"][:19].replace("T", " "), one["reason"], one["requestId"]) for one in refusal.latest)
        return format_html_join("", "<div>{} UTC: {} ({})</div>", rows)

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False


@admin.register(Integration)
class IntegrationAdmin(ConsoleAdmin):
    """Product servers whose assertions are exchanged for tokens."""

    form = IntegrationForm
    inlines = (RefusalsInline,)
    actions_detail = ("test_assertion", "upload_keys")
    list_display = ("issuer", "product", "did_prefix", "enabled")
    list_filter = ("enabled", "product")
    list_select_related = ("product",)
    search_fields = ("issuer", "did_prefix")
    ordering = ("issuer",)

    def has_test_assertion_permission(self, request: HttpRequest, object_id: str | None = None) -> bool:
        return may_act(request, "accounts.view_integration", Integration.objects.all(), object_id)

    def has_upload_keys_permission(self, request: HttpRequest, object_id: str | None = None) -> bool:
        return may_act(request, "accounts.change_integration", Integration.objects.all(), object_id)

    @action(description="Test an assertion", icon="labs", permissions=["test_assertion"])
    def test_assertion(self, request: HttpRequest, object_id: str) -> HttpResponse:
        """Show, check by check, why an assertion would be exchanged or refused. It stays unused."""
        integration = get_object_or_404(Integration, pk=object_id)
        form = AssertionForm(request.POST or None)
        steps = None
        if form.is_valid():
            steps = assertion_tests.run(integration, form.cleaned_data["assertion"], now=timezone.now())
            form = AssertionForm()
        refused = next((step for step in steps or () if step.state == FAILED), None)
        more = {"steps": steps, "refused": refused}
        return self._page(request, integration, "Test an assertion", "admin/accounts/test_assertion.html", form, more)

    @action(description="Upload keys", icon="key", permissions=["upload_keys"])
    def upload_keys(self, request: HttpRequest, object_id: str) -> HttpResponse:
        """Add public keys from a file or from pasted text, or say what is wrong with them."""
        integration = get_object_or_404(Integration, pk=object_id)
        form = KeysForm(request.POST or None, request.FILES or None)
        if form.is_valid():
            keys, replaces = form.cleaned_data["keys"], form.cleaned_data["replaces"]
            try:
                changed = integration_keys.put(integration.pk, keys, replaces=replaces)
            except key_files.KeyFileRefused as refused:
                form.add_error(None, str(refused))
            else:
                done = f"{'Replaced the keys by' if replaces else 'Added'} {_names(keys)}"
                self.log_change(request, changed, f"{done}: {form.cleaned_data['reason']}")
                self.message_user(request, f"{done}.", messages.SUCCESS)
                return redirect("admin:accounts_integration_change", integration.pk)
        more = {"keys": integration.jwks["keys"]}
        return self._page(request, integration, "Upload keys", "admin/accounts/upload_keys.html", form, more)

    def _page(
        self, request: HttpRequest, integration: Integration, title: str, template: str, form: forms.Form, more: Any
    ) -> HttpResponse:
        """Return a page below the integration's."""
        shared = {"title": title, "opts": self.opts, "original": integration, "form": form}
        return TemplateResponse(request, template, {**self.admin_site.each_context(request), **shared, **more})


def _names(keys: list[dict[str, Any]]) -> str:
    """Name keys by their ids, or by their thumbprints."""
    return ", ".join(str(key.get("kid") or jwk.parse(key).thumbprint) for key in keys)
