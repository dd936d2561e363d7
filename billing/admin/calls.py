"""Metered calls, including the review queue."""

from typing import Any

from django import forms
from django.contrib import admin, messages
from django.http import HttpRequest, HttpResponse
from unfold.decorators import action, display

from billing.admin.owners import OWNER, SEARCH_HELP
from billing.models import Call, CallState, Takeover
from billing.operations import reviews
from billing.queries import charges
from billing.rules.prices import show
from gateway.core.console import (
    DollarsField,
    PartyColumn,
    ReadOnlyAdmin,
    ReasonForm,
    WordFilter,
    dialog,
    may_act,
    money,
)
from gateway.core.console.row_names import row_name
from gateway.core.contract.aliases import Route
from gateway.core.contract.amounts import usd

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


class RouteFilter(WordFilter):
    """Filters by the routes of the API."""

    title = parameter_name = "route"
    words = tuple(Route)


@admin.register(Call)
class CallAdmin(ReadOnlyAdmin):
    """Calls. A reconciling call can be charged or released here, once."""

    owner = OWNER
    actor = PartyColumn("Called by", "actor_did")
    organization = PartyColumn("Organization", "org_id", kind="organization")
    hold = money("Hold", "hold_microusd")
    charge_made = money("Charge", "charge_microusd")
    overrun = money("Overrun", "overrun_microusd")
    max_cost = money("Max cost", "max_cost_microusd")

    list_display = ("id", "created_at", "stage", "model", "hold", "charge_made", "owner", "review_reason")
    list_filter = ("state", RouteFilter, "created_at")
    list_select_related = ("wallet",)
    search_fields = ("id__exact", "request_id__exact", "wallet__owner_key__exact", "idempotency_key__exact")
    party_fields = ("wallet__owner_key", "actor_did")
    search_help_text = SEARCH_HELP
    ordering = ("-id",)
    actions_detail = ("charge", "release")
    fieldsets = (
        (
            None,
            {"fields": ("id", "stage", "hold", "charge_made", "credits", "overrun", "max_cost", "price")},
        ),
        ("Reconciling", {"fields": ("review_reason", "evidence", "resolution")}),
        ("Parties", {"fields": ("owner", "actor", "client_id", "product", "organization", "membership_id")}),
        ("Request", {"fields": ("model", "route", "served_by", "request_id", "idempotency_key", "replayable")}),
        ("Timestamps", {"fields": ("created_at", "dispatched_at", "deadline_at", "closed_at")}),
    )

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

    @display(description="Deployment")
    def served_by(self, call: Call) -> str:
        """Name the upstream and the model that the call was sent to."""
        return row_name("deployment", call.deployment) if call.deployment else ""

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
