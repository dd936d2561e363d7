"""Console pages of model providers. A credential can be set and never read."""

from typing import Any

from django.contrib import admin, messages
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse
from django.urls import reverse
from django.utils import timezone
from django.utils.html import format_html_join
from django.utils.safestring import SafeString
from unfold.decorators import action, display

from gateway.core.console import ReasonForm, dialog, may_act
from inference.admin.upstream_form import UpstreamForm
from inference.admin.upstream_keys import RIGHT, KeyActions
from inference.metering import out_of_turn
from inference.models import Upstream
from inference.queries.rows import deployment_id

KEYS = {
    "set": "success",
    "set, and the next one": "info",
    "set, and the old one": "info",
    "not set": "warning",
    "not needed": "info",
}
OPTIONS = (
    *("known_routes", "auth", "query", "output_limit_field", "refuses_service_tiers", "keeps_records"),
    *("organization", "project"),
)


@admin.register(Upstream)
class UpstreamAdmin(KeyActions):
    """Providers of models."""

    form = UpstreamForm
    list_display = ("name", "protocol", "address", "credential", "timeout_seconds", "enabled", "last_alarm_at")
    list_filter = ("adapter", "enabled")
    search_fields = ("name", "base_url")
    ordering = ("name",)
    readonly_fields = (
        *("credential", "api_key_set_at", "settings", "used_by"),
        *("last_alarm", "last_alarm_at", "alarm_count", "connections"),
    )
    actions_detail = ("add_key", "switch_key", "switch_back", "remove_key", "reuse")
    fieldsets = (
        (None, {"fields": ("name", "adapter", "base_url", "enabled")}),
        ("Credential", {"fields": ("credential", "api_key_set_at", "api_key", "remove_api_key")}),
        ("Calls", {"fields": ("timeout_seconds", "bills_errors", "fetches_images")}),
        ("What it does differently", {"fields": OPTIONS}),
    )

    def get_fieldsets(self, request: HttpRequest, obj: Upstream | None = None) -> Any:
        """Show alarms first, if there were any, and last what it serves. Who may only look sees the options in one field."""
        alarms = ("Alarms", {"fields": ("last_alarm", "last_alarm_at", "alarm_count", "connections")})
        shown = [*([alarms] if obj and obj.alarms else []), *super().get_fieldsets(request, obj)]
        if obj is None:
            return shown
        if not self.has_change_permission(request, obj):
            shown[-1] = (shown[-1][0], {"fields": ("settings",)})
        return [*shown, ("Models", {"fields": ("used_by",)})]

    def save_model(self, request: HttpRequest, obj: Upstream, form: Any, change: bool) -> None:
        """Save the columns of the form. A key that it does not state stays as it is, also if somebody else switches it now; at a
        new address, no other key is kept."""
        is_keyed = "api_key" in form.changed_data or "remove_api_key" in form.changed_data
        if is_keyed:
            obj.api_key_set_at = timezone.now() if obj.api_key else None
        if change and (form.is_moved or not obj.api_key):
            obj.next_api_key = obj.previous_api_key = ""
        columns = {*UpstreamForm.Meta.fields, "options"} - {"api_key"}
        if is_keyed:
            columns |= {"api_key", "api_key_set_at"}
        if change and (form.is_moved or not obj.api_key):
            columns |= {"next_api_key", "previous_api_key"}
        obj.save(update_fields=columns if change else None)

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
            ReasonForm,
        ),
    )
    def reuse(self, request: HttpRequest, form: ReasonForm, object_id: str) -> HttpResponse:
        """Allow the connections of the upstream's origin to be reused."""
        upstream = out_of_turn.reuse(int(object_id), now=timezone.now())
        self.log_change(request, upstream, f"Allowed its connections to be reused: {form.cleaned_data['reason']}")
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

    @display(description="API key", label=KEYS)
    def credential(self, upstream: Upstream) -> str:
        """Return which credentials there are."""
        if not upstream.api_key:
            return "not needed" if upstream.adapter == Upstream.Adapter.DEMO else "not set"
        if upstream.next_api_key:
            return "set, and the next one"
        return "set, and the old one" if upstream.previous_api_key else "set"

    @display(description="Settings", empty_value="-")
    def settings(self, upstream: Upstream) -> str | None:
        """List the options, for operators who may not change them."""
        return "; ".join(f"{name}: {value}" for name, value in upstream.options.items()) or None

    @display(description="Served by it", empty_value="-")
    def used_by(self, upstream: Upstream) -> SafeString | None:
        """Link to the models that it serves, and to the page that tries them."""
        served = [(row.alias, "alias", row) for row in upstream.deployments.select_related("alias")]
        served += [(raw, "rawmodel", raw) for raw in upstream.raw_models.all()]  # type: ignore[misc]
        links = (
            (
                reverse(f"admin:inference_{table}_change", args=[model.pk]),
                model,
                row.model,
                reverse(f"admin:inference_{table}_try_it", args=[model.pk], query={"deployment": deployment_id(row)}),
            )
            for model, table, row in served
        )
        line = '<div class="py-1"><a class="underline" href="{}">{}</a> ({}), <a class="underline" href="{}">try it</a></div>'
        return format_html_join("", line, links) or None


def _out_of_turn() -> QuerySet[Upstream]:
    """Return the upstreams whose connections are not reused."""
    now = timezone.now()
    rows = Upstream.objects.exclude(out_of_turn_at=None)
    return rows.filter(pk__in=[row.pk for row in rows if row.distrusted_until(now)])
