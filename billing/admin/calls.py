"""Metered calls, including the review queue."""

from typing import Any

from django import forms
from django.contrib import admin, messages
from django.contrib.admin.utils import unquote
from django.core.exceptions import PermissionDenied
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse, StreamingHttpResponse
from django.urls import path
from django.utils import timezone
from unfold.decorators import action, display

from billing.admin import call_export, call_page
from billing.admin.call_filters import (
    USAGE_ID,
    AccountFilter,
    CallPeriodFilter,
    CauseFilter,
    ModelFilter,
    OrganizationFilter,
    ProductFilter,
    RouteFilter,
    UpstreamFilter,
)
from billing.admin.owners import OWNER, SEARCH_HELP
from billing.models import Call, CallState, Takeover
from billing.operations import reviews
from billing.queries import charges
from billing.rules import call_causes
from billing.rules.prices import show
from gateway.core.console import (
    DollarsField,
    PartyColumn,
    ReadOnlyAdmin,
    ReasonForm,
    dialog,
    may_act,
    money,
)
from gateway.core.console.row_names import row_name, row_names
from gateway.core.contract.amounts import usd
from gateway.core.portal.csv_files import csv_response

STATE_COLOURS = {
    CallState.HELD.label: "info",
    CallState.REVIEW.label: "warning",
    CallState.SETTLED.label: "success",
    CallState.RELEASED.label: "default",
}


class ChargeForm(ReasonForm):
    """Asks for the amount to charge, at most the hold."""

    amount = DollarsField(label="Charge", min_microusd=0)
    field_order = ("amount", "reason")

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.hold_microusd = Call.objects.values_list("hold_microusd", flat=True).get(pk=self.object_id)
        self.fields["amount"].help_text = f"In dollars; at most {usd(self.hold_microusd)}, the amount held."

    def clean_amount(self) -> int:
        """Refuse more than was held: the customer never agreed to it."""
        amount: int = self.cleaned_data["amount"]
        if amount > self.hold_microusd:
            raise forms.ValidationError(f"The charge cannot be more than the hold of {usd(self.hold_microusd)}.")
        return amount


@admin.register(Call)
class CallAdmin(ReadOnlyAdmin):
    """Calls. A reconciling call can be charged or released here, once."""

    empty_text = "An app makes the first one. To try it, run make demo."
    owner = OWNER
    actor = PartyColumn("Called by", "actor_did")
    organization = PartyColumn("Organization", "org_id", kind="organization")
    hold = money("Hold", "hold_microusd")
    charge_made = money("Charge", "charge_microusd")
    overrun = money("Overrun", "overrun_microusd")
    max_cost = money("Max cost", "max_cost_microusd")

    list_display = ("id", "created_at", "stage", "cause", "model", "served_by", "charge_made", "owner")
    list_filter = (
        "state",
        CallPeriodFilter,
        ModelFilter,
        UpstreamFilter,
        ProductFilter,
        RouteFilter,
        CauseFilter,
        AccountFilter,
        OrganizationFilter,
    )
    list_filter_submit = True
    list_filter_sheet = True
    list_before_template = "admin/billing/call_list.html"
    change_form_outer_before_template = "admin/billing/call.html"
    list_select_related = ("wallet",)
    search_fields = ("id__exact", "request_id__exact", "wallet__owner_key__exact", "idempotency_key__exact")
    party_fields = ("wallet__owner_key", "actor_did")
    search_help_text = f"{SEARCH_HELP} A usage ID finds its call whenever it was, anything else within the chosen time."
    ordering = ("-id",)
    actions_detail = ("charge", "release")
    fieldsets = tuple(
        (title, {"fields": fields, "classes": ("collapse",)})
        for title, fields in (
            ("Amounts", ("id", "stage", "hold", "charge_made", "credits", "overrun", "max_cost", "price")),
            ("Reconciling", ("review_reason", "evidence", "resolution")),
            ("Parties", ("owner", "actor", "client_id", "product", "organization", "membership_id")),
            ("Request", ("model", "route", "served_by", "request_id", "idempotency_key", "replayable")),
            ("Timestamps", ("created_at", "dispatched_at", "deadline_at", "closed_at")),
        )
    )
    """The row's columns as they are, folded away below the page."""

    def get_urls(self) -> list[Any]:
        """Add the address of the CSV file."""
        own = path("export/", self.admin_site.admin_view(self.export), name="billing_call_export")
        return [own, *super().get_urls()]

    def complete(self, rows: list[Any]) -> None:
        """Name the deployments of a page's calls at once, too."""
        super().complete(rows)
        names = row_names("deployment", sorted({call.deployment for call in rows if call.deployment}))
        for call in rows:
            call.__dict__["_served_by"] = names.get(call.deployment or "", "")

    def get_search_results(
        self, request: HttpRequest, queryset: QuerySet[Call], search_term: str
    ) -> tuple[QuerySet[Call], bool]:
        """Find a call by its own id, without a look at any other; otherwise search as every list does."""
        text = search_term.strip()
        if text.startswith(USAGE_ID):
            return queryset.filter(pk=text), False
        return super().get_search_results(request, queryset, search_term)

    def change_view(
        self, request: HttpRequest, object_id: str, form_url: str = "", extra_context: dict[str, Any] | None = None
    ) -> HttpResponse:
        """Show the call's page, above the columns of its row."""
        related = ("wallet", "price_version", "usage_record__cost_version", "takeover__price_version")
        call = (
            self.get_queryset(request).select_related(*related).filter(pk__in={object_id, unquote(object_id)}).first()
        )
        if call is None or not self.has_view_permission(request, call):
            return super().change_view(request, object_id, form_url, extra_context)
        page = call_page.context(call)
        return super().change_view(request, object_id, form_url, {"call_page": page, **(extra_context or {})})

    def export(self, request: HttpRequest) -> StreamingHttpResponse:
        """Return the calls of the list, as it is filtered, as a CSV file."""
        if not self.has_view_permission(request):
            raise PermissionDenied
        calls = self.get_changelist_instance(request).get_queryset(request)
        return csv_response(f"calls-{timezone.now():%Y-%m-%d}", call_export.HEADER, call_export.rows(calls))

    def has_resolve_permission(self, request: HttpRequest, object_id: str | None = None) -> bool:
        return may_act(request, "billing.change_call", Call.objects.filter(state=CallState.REVIEW), object_id)

    @action(
        description="Charge",
        icon="paid",
        permissions=["resolve"],
        dialog=dialog(
            "Charge this call",
            "The charge is booked once and cannot be undone. The rest of the hold is returned to the wallet.",
            "Charge",
            ChargeForm,
        ),
    )
    def charge(self, request: HttpRequest, form: ChargeForm, object_id: str) -> HttpResponse:
        amount = form.cleaned_data["amount"]
        is_done = reviews.charge(object_id, cost_microusd=amount)
        return self._finish(request, form, object_id, is_done, f"Charged {usd(amount)}")

    @action(
        description="Release",
        icon="undo",
        permissions=["resolve"],
        dialog=dialog(
            "Release this call",
            "The whole hold is returned to the wallet, and nothing is charged.",
            "Release",
            ReasonForm,
        ),
    )
    def release(self, request: HttpRequest, form: ReasonForm, object_id: str) -> HttpResponse:
        return self._finish(request, form, object_id, reviews.release(object_id), "Released")

    def _finish(self, request: HttpRequest, form: Any, object_id: str, is_done: bool, done: str) -> HttpResponse:
        if is_done:
            return self.finish_dialog(request, form, object_id, done)
        return self.leave_dialog(request, object_id, "Someone else has resolved this call.", messages.WARNING)

    @display(description="State", label=STATE_COLOURS)
    def stage(self, call: Call) -> str:
        return CallState(call.state).label

    @display(description="Cause")
    def cause(self, call: Call) -> str:
        """Return why a call was not charged as usual."""
        return call_causes.title(call_causes.word_of(call.state, call.review_reason, call.resolution))

    @display(description="Deployment")
    def served_by(self, call: Call) -> str:
        """Name the upstream and the model that the call was sent to."""
        known = call.__dict__.get("_served_by")
        return known if known is not None else row_name("deployment", call.deployment) if call.deployment else ""

    @display(description="Paid from credits")
    def credits(self, call: Call) -> str:
        """List the credits charged, or for an open call the credits held, with the amounts."""
        if call.closed_at is None:
            held = zip(call.lot_ids or (), call.lot_amounts_microusd or (), strict=True)
            return ", ".join(f"{usd(amount)} of {lot_id} held" for lot_id, amount in held) or "none"
        charged = charges.by_lot(call.pk)
        return ", ".join(f"{usd(amount)} of {lot_id}" for lot_id, amount in charged) or "none"

    @display(description="Price in USD per million")
    def price(self, call: Call) -> str:
        """Render the prices that the call was held and charged at; those of another model if it took the call over."""
        takeover = Takeover.objects.filter(pk=call.pk).select_related("price_version").first()
        if takeover is None:
            return show(call.price_version.components)
        return f"{show(takeover.price_version.components)}, of {takeover.model}, which answered instead"
