"""Metered calls, the review queue among them, and what was used."""

from typing import Any

from django import forms
from django.contrib import admin, messages
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse
from django.urls import reverse
from unfold.decorators import action, display
from unfold.widgets import UnfoldAdminIntegerFieldWidget

from billing.admin.forms import ReasonForm
from billing.models import Reservation, State, UsageRecord
from billing.operations import reviews
from gateway.console import ReadOnlyAdmin, leave_dialog, usd
from gateway.contract.aliases import Route

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


class RouteFilter(admin.SimpleListFilter):
    """Filters by route without asking the table which there are."""

    title = "route"
    parameter_name = "route"

    def lookups(self, request: HttpRequest, model_admin: object) -> list[tuple[str, str]]:
        """List the routes of the API."""
        return [(route, route) for route in Route]

    def queryset(self, request: HttpRequest, queryset: QuerySet[Reservation]) -> QuerySet[Reservation]:
        """Keep the chosen route."""
        return queryset.filter(route=self.value()) if self.value() else queryset


@admin.register(Reservation)
class ReservationAdmin(ReadOnlyAdmin):
    """Calls. One in review is charged or released here, once."""

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
        if not request.user.has_perm("billing.change_reservation"):
            return False
        return object_id is None or Reservation.objects.filter(pk=object_id, state=State.REVIEW).exists()

    @action(
        description="Charge",
        icon="paid",
        permissions=["resolve"],
        dialog={
            "title": "Charge this call",
            "description": "The charge is booked once and for ever; the rest of the hold goes back to the wallet.",
            "form_class": ChargeForm,
            "form_submit_text": "Charge",
        },
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
        dialog={
            "title": "Release this call",
            "description": "The whole hold goes back to the wallet, and nothing is charged.",
            "form_class": ReasonForm,
            "form_submit_text": "Release",
        },
    )
    def release(self, request: HttpRequest, form: ReasonForm, object_id: str) -> HttpResponse:
        """Give the hold back by the operator's word."""
        return self._finish(request, form, object_id, reviews.release(object_id), "Released")

    def _finish(self, request: HttpRequest, form: Any, object_id: str, is_done: bool, done: str) -> HttpResponse:
        if is_done:
            call = Reservation.objects.get(pk=object_id)
            self.log_change(request, call, f"{done}: {form.cleaned_data['reason']}")
            self.message_user(request, f"{done}.", messages.SUCCESS)
        else:
            self.message_user(request, "Somebody else resolved this call first.", messages.WARNING)
        return leave_dialog(reverse("admin:billing_reservation_change", args=[object_id]))

    @display(description="State", label=STATE_COLOURS)
    def stage(self, call: Reservation) -> str:
        """Say where in its life the call is."""
        return State(call.state).label

    @display(description="Owner")
    def owner(self, call: Reservation) -> str:
        """Name whose money it is."""
        return call.wallet.owner_key

    @display(description="Hold")
    def hold(self, call: Reservation) -> str:
        """Render what was held."""
        return usd(call.hold_microusd)

    @display(description="Of it from credits")
    def credits(self, call: Reservation) -> str:
        """List which credits the hold took how much of, in the order of spending."""
        parts = zip(call.lot_ids or (), call.lot_amounts_microusd or (), strict=True)
        return ", ".join(f"{usd(amount)} of {lot_id}" for lot_id, amount in parts) or "none"

    @display(description="Charge")
    def charge_made(self, call: Reservation) -> str:
        """Render what was charged."""
        return usd(call.charge_microusd)

    @display(description="Beyond the hold")
    def overrun(self, call: Reservation) -> str:
        """Render what the upstream reported beyond the hold, at the operator's cost."""
        return usd(call.overrun_microusd)

    @display(description="Max cost")
    def max_cost(self, call: Reservation) -> str:
        """Render the most that the client agreed to."""
        return usd(call.max_cost_microusd)


@admin.register(UsageRecord)
class UsageRecordAdmin(ReadOnlyAdmin):
    """What settled calls used."""

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

    @display(description="Charge")
    def charge(self, record: UsageRecord) -> str:
        """Render what was charged."""
        return usd(record.charge_microusd)
