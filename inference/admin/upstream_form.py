"""The form of an upstream: an address, a credential that is never shown, and options as fields."""

from typing import Any, ClassVar

from django import forms
from django.conf import settings
from django.core.exceptions import ValidationError
from unfold.widgets import (
    UnfoldAdminCheckboxSelectMultipleWidget,
    UnfoldAdminSelectWidget,
    UnfoldAdminTextInputWidget,
    UnfoldBooleanSwitchWidget,
)

from gateway.core.console import OptionsForm, PairsField, SecretField
from gateway.core.contract.addresses import WEB_WORDS, is_web_address, origin_of
from gateway.core.contract.aliases import Route
from inference.interface.model import GENERATIONS
from inference.models import Upstream
from inference.rules.authentication import read_auth, read_query

LIMIT_FIELDS = ("max_completion_tokens", "max_tokens")


def clean_key(typed: str) -> str:
    """Return an API key without the spaces around it. Raises ValidationError if it cannot be sent in a header."""
    key = typed.strip()
    if key and not (key.isascii() and key.isprintable() and " " not in key):
        raise ValidationError("A credential must be printable ASCII without spaces.")
    return key


def text_field(label: str, help_text: str, placeholder: str = "") -> forms.CharField:
    """Build the field of a short text that is sent in a header."""
    widget = UnfoldAdminTextInputWidget(attrs={"placeholder": placeholder})
    return forms.CharField(required=False, max_length=200, label=label, help_text=help_text, widget=widget)


def switch(label: str, help_text: str) -> forms.BooleanField:
    """Build the field of an option that is on or off."""
    return forms.BooleanField(required=False, label=label, help_text=help_text, widget=UnfoldBooleanSwitchWidget)


class UpstreamForm(OptionsForm):
    """Accepts a credential without ever showing it."""

    option_fields: ClassVar = {
        "known_routes": "routes",
        "auth": "auth",
        "query": "query",
        "output_limit_field": "output_limit_field",
        "refuses_service_tiers": "service_tiers",
        "keeps_records": "looks_up",
        "organization": "organization",
        "project": "project",
    }

    api_key = SecretField(
        label="New API key",
        help_text="Stored encrypted and never shown. Leave blank to keep the stored key. To replace a key while calls go on, add "
        "the next one with “Next key” instead.",
    )
    remove_api_key = forms.BooleanField(required=False, label="Remove the API key", widget=UnfoldBooleanSwitchWidget)
    known_routes = forms.MultipleChoiceField(
        required=False,
        label="Routes",
        choices=[(route, str(route)) for route in Route],
        widget=UnfoldAdminCheckboxSelectMultipleWidget,
        help_text="If the upstream does not support every route of its adapter, choose those that it does. Text routes that it "
        "lacks are translated. None: all of them.",
    )
    auth = text_field(
        "Header of the key",
        "The header that carries the key, or bearer for “Authorization: Bearer”. Blank: as the adapter's vendor has it.",
        "api-key",
    )
    query = PairsField(
        label="Parameters of every URL",
        help_text="One name=text per line. The texts are not secret: the page shows them.",
    )
    output_limit_field = forms.ChoiceField(
        required=False,
        label="Field of the output limit",
        choices=[("", "As the vendor has it"), *((name, name) for name in LIMIT_FIELDS)],
        widget=UnfoldAdminSelectWidget,
        help_text="The member of a chat that bounds its output. Older servers know only max_tokens.",
    )
    refuses_service_tiers = switch(
        "Refuses service tiers", "The upstream refuses the member service_tier, so “default” is not sent to it."
    )
    keeps_records = switch(
        "Keeps records of generations",
        "An aggregator that has a record of each call, at /generation. It is looked up when the outcome of a call is unknown.",
    )
    organization = text_field("Organization", "Sent as OpenAI-Organization.", "org-…")
    project = text_field("Project", "Sent as OpenAI-Project.", "proj_…")

    class Meta:
        model = Upstream
        fields = (
            "name",
            "adapter",
            "base_url",
            "api_key",
            "timeout_seconds",
            "bills_errors",
            "fetches_images",
            "enabled",
        )
        labels = {"base_url": "Base URL", "adapter": "Adapter", "timeout_seconds": "Timeout in seconds"}

    def shown(self, option: str, value: Any) -> Any:
        match option:
            case "service_tiers":
                return value is False
            case "looks_up":
                return value == GENERATIONS
        return value

    def stored(self, option: str, value: Any) -> Any:
        match option:
            case "service_tiers":
                return False if value else None
            case "looks_up":
                return GENERATIONS if value else None
        return value

    def clean_base_url(self) -> str:
        """Refuse an address that a credential must not be sent to."""
        base_url: str = self.cleaned_data["base_url"].rstrip("/")
        if base_url and not is_web_address(base_url):
            raise ValidationError(f"This {WEB_WORDS}.")
        return base_url

    def clean_api_key(self) -> str:
        """Keep the stored credential if none was entered."""
        return clean_key(self.cleaned_data["api_key"]) or self.instance.api_key

    def clean_auth(self) -> str:
        typed: str = self.cleaned_data["auth"]
        return _read(read_auth, typed) if typed else ""

    def clean_query(self) -> dict[str, str]:
        typed: dict[str, str] = self.cleaned_data["query"]
        return dict(_read(read_query, typed)) if typed else {}

    def clean_organization(self) -> str:
        return clean_key(self.cleaned_data["organization"])

    def clean_project(self) -> str:
        return clean_key(self.cleaned_data["project"])

    def clean(self) -> dict[str, Any]:
        """Refuse an upstream without an address, and the demo adapter in production."""
        cleaned = super().clean()
        is_demo = cleaned.get("adapter") == Upstream.Adapter.DEMO
        if is_demo and not settings.DEMO_ADAPTER:
            self.add_error("adapter", "The demo adapter is not available in production.")
        if not is_demo and "base_url" in cleaned and not cleaned["base_url"]:
            self.add_error("base_url", "Every adapter except demo needs a base URL.")
        if self._would_move_key(cleaned):
            self.add_error("api_key", "Enter the key again. A stored key is never sent to a new address.")
        if cleaned.get("remove_api_key"):
            cleaned["api_key"] = ""
        return cleaned

    @property
    def is_moved(self) -> bool:
        """Return whether the form gives a stored upstream another origin."""
        before, after = self.initial.get("base_url"), self.cleaned_data.get("base_url")
        return bool(before and after and origin_of(before) != origin_of(after))

    def _would_move_key(self, cleaned: dict[str, Any]) -> bool:
        """Return whether a stored key would be sent to a different address."""
        stored, address = self.instance, cleaned.get("base_url")
        if not (stored.api_key and address) or self.data.get("api_key") or cleaned.get("remove_api_key"):
            return False
        return origin_of(stored.base_url) != origin_of(address)


def _read(read: Any, value: Any) -> Any:
    try:
        return read(value)
    except ValueError as error:
        raise ValidationError(f"{error}.") from error
