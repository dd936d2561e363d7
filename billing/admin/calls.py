"""Metered calls, the review queue among them, and what was used."""

from typing import Any

from django import forms
from django.contrib import admin, messages
from django.http import HttpRequest, HttpResponse
from unfold.decorators import action, display
from unfold.widgets import UnfoldAdminIntegerFieldWidget

from billing.admin.forms import ReasonForm
from billing.models import Reservation, State, UsageRecord
from billing.operations import reviews
from gateway.core.console import ReadOnlyAdmin, WordFilter, dialog, may_act, money
from gateway.core.contract.aliases import Route
from gateway.core.contract.amounts import usd

STATE_COLOURS = {
    State.DISPATCHED.label: "info",
    State.REVIEW.label: "warning",
    State.SETTLED.label: "success",
    State.RELEASED.label: "default",
}


class ChargeForm(ReasonForm):
    """Asks how much, at most the hold."""

    amount_microusd = forms.IntegerField(
        label="Charge in micro-USD", min_value=0, help_text="At most the hold.", widget=UnfoldAdminIntegerFieldWidget
    )
    field_order = ("amount_microusd", "reason")

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.hold_microusd = Reservation.objects.values_list("hold_microusd", flat=True).get(pk=self.object_id)
        self.fields["amount_microusd"].help_text = f"At most the hold, {self.hold_microusd}."

    def clean_amount_microusd(self) -> int:
        """Refuse more than was held: the customer never agreed to it."""
        amount: int = self.cleaned_data["amount_microusd"]
        if amount > self.hold_microusd:
            raise forms.ValidationError(f"The hold is {self.hold_microusd} micro-USD.")
        return amount


class RouteFilter(WordFilter):
    """Filters by the routes of the API."""

    title = parameter_name = "route"
    words = tuple(Route)


@admin.register(Reservation)
class ReservationAdmin(ReadOnlyAdmin):
    """Calls. One in review is charged or released here, once."""

    hold = money("Hold", "hold_microusd")
    charge_made = money("Charge", "charge_microusd")
    overrun = money("Beyond the hold", "overrun_microusd")
    max_cost = money("Max cost", "max_cost_microusd")

    list_display = ("id", "created_at", "stage", "model", "hold", "charge_made", "owner", "review_reason")
    list_filter = ("state", RouteFilter, "created_at")
    list_select_related = ("wallet",)
    search_fields = ("id__exact", "request_id__exact", "wallet__owner_key__exact", "idempotency_key__exact")
    search_help_text = "The whole usage id, request id, idempotency key, DID or organization id."
    ordering = ("-id",)
    actions_detail = ("charge", "release")
    fieldsets = (
        (
            None,
            {"fields": ("id", "stage", "hold", "charge_made", "credits", "overrun", "max_cost", "price_version_id")},
        ),
        ("Review", {"fields": ("review_reason", "evidence", "resolution")}),
        ("Who", {"fields": ("owner", "actor_did", "client_id", "product", "org_id", "membership_id")}),
        ("What", {"fields": ("model", "route", "deployment", "request_id", "idempotency_key", "replayable")}),
        ("When", {"fields": ("created_at", "dispatched_at", "deadline_at", "closed_at")}),
    )

    def has_resolve_permission(self, request: HttpRequest, object_id: str | None = None) -> bool:
        """Let operators with that right resolve a call that is in review."""
        return may_act(request, "billing.change_reservation", Reservation.objects.filter(state=State.REVIEW), object_id)

    @action(
        description="Charge",
        icon="paid",
        permissions=["resolve"],
        dialog=dialog(
            "Charge this call",
            "The charge is booked once and for ever; the rest of the hold goes back to the wallet.",
            "Charge",
            ChargeForm,
        ),
    )
    def charge(self, request: HttpRequest, form: ChargeForm, object_id: str) -> HttpResponse:
        """Settle by the operator's word."""
        amount = form.cleaned_data["amount_microusd"]
        is_done = reviews.charge(object_id, cost_microusd=amount)
        return self._finish(request, form, object_id, is_done, f"Charged {usd(amount)}")

    @action(
        description="Release",
        icon="undo",
        permissions=["resolve"],
        dialog=dialog(
            "Release this call",
            "The whole hold goes back to the wallet, and nothing is charged.",
            "Release",
            ReasonForm,
        ),
    )
    def release(self, request: HttpRequest, form: ReasonForm, object_id: str) -> HttpResponse:
        """Give the hold back by the operator's word."""
        return self._finish(request, form, object_id, reviews.release(object_id), "Released")

    def _finish(self, request: HttpRequest, form: Any, object_id: str, is_done: bool, done: str) -> HttpResponse:
        if is_done:
            return self.finish_dialog(request, form, object_id, done)
        return self.leave_dialog(request, object_id, "Somebody else resolved this call first.", messages.WARNING)

    @display(description="State", label=STATE_COLOURS)
    def stage(self, call: Reservation) -> str:
        """Say where in its life the call is."""
        return State(call.state).label

    @display(description="Owner")
    def owner(self, call: Reservation) -> str:
        """Name whose money it is."""
        return call.wallet.owner_key

    @display(description="Of it from credits")
    def credits(self, call: Reservation) -> str:
        """List which credits the hold took how much of, in the order of spending."""
        parts = zip(call.lot_ids or (), call.lot_amounts_microusd or (), strict=True)
        return ", ".join(f"{usd(amount)} of {lot_id}" for lot_id, amount in parts) or "none"


@admin.register(UsageRecord)
class UsageRecordAdmin(ReadOnlyAdmin):
    """What settled calls used."""

    charge = money("Charge", "charge_microusd")

    list_display = (
        "reservation_id",
        "model",
        "owner",
        "input_tokens",
        "output_tokens",
        "charge",
        "basis",
        "settled_at",
    )
    list_filter = ("basis", "settled_at")
    list_select_related = ("reservation", "reservation__wallet")
    search_fields = ("reservation__id__exact", "reservation__wallet__owner_key__exact")
    search_help_text = "The whole usage id, DID or organization id."
    ordering = ("-pk",)

    @display(description="Model")
    def model(self, record: UsageRecord) -> str:
        """Name the alias."""
        return record.reservation.model

    @display(description="Owner")
    def owner(self, record: UsageRecord) -> str:
        """Name who paid."""
        return record.reservation.wallet.owner_key
