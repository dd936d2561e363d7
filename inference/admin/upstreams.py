"""Console pages of model providers. A credential can be set and never read."""

from typing import Any

from django import forms
from django.conf import settings
from django.contrib import admin, messages
from django.core.exceptions import ValidationError
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse
from django.utils import timezone
from unfold.decorators import action, display
from unfold.widgets import UnfoldBooleanSwitchWidget

from gateway.core.console import ConsoleAdmin, ReadableJSONField, SecretField, dialog, json_object, may_act
from gateway.core.contract.addresses import WEB_WORDS, is_web_address, origin_of
from inference.admin.routes import check_routes
from inference.interface.model import GENERATIONS
from inference.metering import out_of_turn
from inference.models import Upstream
from inference.rules.authentication import read_auth, read_query

RIGHT = "inference.change_upstream"


class UpstreamForm(forms.ModelForm):
    """Accepts a credential without ever showing it."""

    api_key = SecretField(
        label="New API key", help_text="Stored encrypted and never shown. Leave blank to keep the stored key."
    )
    remove_api_key = forms.BooleanField(required=False, label="Remove the API key", widget=UnfoldBooleanSwitchWidget)
    options = ReadableJSONField(
        required=False,
        help_text='If the upstream does not support every route of its adapter, list those that it does: {"routes": ["chat.completions"]}. '
        'An aggregator that keeps a record of each generation: {"looks_up": "generations"}. '
        'An upstream that refuses the member service_tier: {"service_tiers": false}. '
        'An upstream that takes its key in another header, or parameters in its URLs: {"auth": "api-key", "query": {"api-version": "preview"}}.',
    )

    class Meta:
        model = Upstream
        fields = (
            "name",
            "adapter",
            "base_url",
            "api_key",
            "remove_api_key",
            "timeout_seconds",
            "bills_errors",
            "fetches_images",
            "enabled",
            "options",
        )
        labels = {"base_url": "Base URL", "adapter": "Adapter", "timeout_seconds": "Timeout in seconds"}

    def clean_base_url(self) -> str:
        """Refuse an address that a credential must not be sent to."""
        base_url: str = self.cleaned_data["base_url"].rstrip("/")
        if base_url and not is_web_address(base_url):
            raise ValidationError(f"This {WEB_WORDS}.")
        return base_url

    def clean_api_key(self) -> str:
        """Keep the stored credential if none was entered."""
        typed: str = self.cleaned_data["api_key"].strip()
        if typed and not (typed.isascii() and typed.isprintable() and " " not in typed):
            raise ValidationError("A credential must be printable ASCII without spaces.")
        return typed or self.instance.api_key

    def clean_options(self) -> dict[str, Any]:
        """Refuse options that are not an object, and unknown routes and record kinds."""
        options = json_object(self.cleaned_data["options"])
        check_routes(options)
        if options.get("looks_up") not in (None, GENERATIONS):
            raise ValidationError(f"looks_up can only be {GENERATIONS}.")
        if not isinstance(options.get("service_tiers", True), bool):
            raise ValidationError("service_tiers can only be true or false.")
        if options.get("output_limit_field") not in (None, "max_tokens", "max_completion_tokens"):
            raise ValidationError("output_limit_field can only be max_tokens or max_completion_tokens.")
        for name, read in (("auth", read_auth), ("query", read_query)):
            if name in options:
                try:
                    read(options[name])
                except ValueError as error:
                    raise ValidationError(f"{error}.") from error
        return options

    def clean(self) -> dict[str, Any]:
        """Refuse an upstream without an address, and the demo adapter in production."""
        cleaned = super().clean() or {}
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

    def _would_move_key(self, cleaned: dict[str, Any]) -> bool:
        """Return whether a stored key would be sent to a different address."""
        stored, address = self.instance, cleaned.get("base_url")
        if not (stored.api_key and address) or self.data.get("api_key") or cleaned.get("remove_api_key"):
            return False
        return origin_of(stored.base_url) != origin_of(address)


@admin.register(Upstream)
class UpstreamAdmin(ConsoleAdmin):
    """Providers of models."""

    form = UpstreamForm
    list_display = ("name", "protocol", "address", "credential", "timeout_seconds", "enabled", "last_alarm_at")
    list_filter = ("adapter", "enabled")
    search_fields = ("name", "base_url")
    ordering = ("name",)
    readonly_fields = ("credential", "last_alarm", "last_alarm_at", "alarm_count", "connections")
    actions_detail = ("reuse",)
    fieldsets = (
        (None, {"fields": ("name", "adapter", "base_url", "enabled")}),
        ("Credential", {"fields": ("credential", "api_key", "remove_api_key")}),
        ("Calls", {"fields": ("timeout_seconds", "bills_errors", "fetches_images", "options")}),
    )

    def get_fieldsets(self, request: HttpRequest, obj: Upstream | None = None) -> Any:
        """Show alarms first, if there were any."""
        alarms = ("Alarms", {"fields": ("last_alarm", "last_alarm_at", "alarm_count", "connections")})
        return [*([alarms] if obj and obj.alarms else []), *super().get_fieldsets(request, obj)]

    def has_reuse_permission(self, request: HttpRequest, object_id: str | None = None) -> bool:
        """Allow operators who may change an upstream to have its connections reused, where they are not."""
        return may_act(request, RIGHT, _out_of_turn(), object_id)

    @action(
        description="Reuse connections",
        icon="sync",
        permissions=["reuse"],
        dialog=dialog(
            "Reuse this upstream's connections",
            "It sent something that no request had asked for. Reuse its connections only if the cause is removed: otherwise "
            "a customer can get the answer to another customer's request. This holds for all upstreams at the same host and "
            "port, within 15 seconds.",
            "Reuse",
        ),
    )
    def reuse(self, request: HttpRequest, form: forms.Form, object_id: str) -> HttpResponse:
        """Allow the connections of the upstream's origin to be reused."""
        upstream = out_of_turn.reuse(int(object_id), now=timezone.now())
        self.log_change(request, upstream, "Allowed its connections to be reused.")
        return self.leave_dialog(request, object_id, "The connections are reused again.", messages.SUCCESS)

    @display(description="Connections")
    def connections(self, upstream: Upstream) -> str:
        """Return whether its connections are reused."""
        until = upstream.distrusted_until(timezone.now())
        return f"Each is used for one call until {until:%Y-%m-%d %H:%M} UTC" if until else "Reused"

    @display(description="Number of alarms")
    def alarm_count(self, upstream: Upstream) -> int:
        """Return the number of alarms."""
        return upstream.alarms

    @display(description="Adapter", ordering="adapter")
    def protocol(self, upstream: Upstream) -> str:
        """Return the adapter's name in the configuration file."""
        return upstream.adapter

    @display(description="Base URL", empty_value="-")
    def address(self, upstream: Upstream) -> str | None:
        """Return its address."""
        return upstream.base_url or None

    @display(description="API key", label={"set": "success", "not set": "warning", "not needed": "info"})
    def credential(self, upstream: Upstream) -> str:
        """Return whether there is a credential."""
        if upstream.api_key:
            return "set"
        return "not needed" if upstream.adapter == Upstream.Adapter.DEMO else "not set"


def _out_of_turn() -> QuerySet[Upstream]:
    """Return the upstreams whose connections are not reused."""
    now = timezone.now()
    rows = Upstream.objects.exclude(out_of_turn_at=None)
    return rows.filter(pk__in=[row.pk for row in rows if row.distrusted_until(now)])
