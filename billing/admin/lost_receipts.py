"""Receipts that the database lost in a failover: an operator decides about each."""

from django import forms
from django.contrib import admin, messages
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse
from django.utils import timezone
from unfold.decorators import action, display

from billing.admin.owners import SEARCH_HELP
from billing.models import LostOutcome, LostReceipt
from billing.operations import lost_receipts
from gateway.core.console import PartyColumn, ReadOnlyAdmin, ReasonForm, dialog, may_act, money

OPEN = "Open"
COLOURS = {OPEN: "danger", **dict.fromkeys(LostOutcome.labels, "default")}
RIGHT = "billing.change_lostreceipt"
TOO_LATE = "Somebody has decided about this receipt in the meantime."


class StateFilter(admin.SimpleListFilter):
    """Separates receipts that wait from those that were decided about."""

    title = "state"
    parameter_name = "state"

    def lookups(self, request: HttpRequest, model_admin: object) -> list[tuple[str, str]]:
        return [("open", OPEN), *((value, label) for value, label in LostOutcome.choices)]

    def queryset(self, request: HttpRequest, queryset: QuerySet[LostReceipt]) -> QuerySet[LostReceipt]:
        if self.value() == "open":
            return queryset.filter(outcome=None)
        return queryset.filter(outcome=self.value()) if self.value() else queryset


@admin.register(LostReceipt)
class LostReceiptAdmin(ReadOnlyAdmin):
    """Calls that were closed and confirmed, and that a failover or a restored copy lost. Their wallets have the money back."""

    empty_text = "No call was lost. A synchronous standby of the database keeps it so."
    charge = money("Charge", "charge_microusd")
    owner = PartyColumn("Owner", "owner_key", kind_path="owner_kind")

    list_display = ("usage_id", "found_at", "stage", "charge", "owner")
    list_filter = (StateFilter, "found_at")
    search_fields = ("usage_id__exact", "owner_key__exact")
    search_help_text = SEARCH_HELP
    party_fields = ("owner_key",)
    ordering = ("-found_at", "usage_id")
    actions_detail = ("charged", "written_off")
    fieldsets = (
        (None, {"fields": ("usage_id", "stage", "charge", "owner", "delivered", "found_at")}),
        ("Decision", {"fields": ("reason", "resolved_by", "resolved_at")}),
    )

    def has_resolve_permission(self, request: HttpRequest, object_id: str | None = None) -> bool:
        return may_act(request, RIGHT, lost_receipts.unresolved(), object_id)

    @action(
        description="Charged otherwise",
        icon="receipt_long",
        permissions=["resolve"],
        dialog=dialog(
            "Record that this call was charged otherwise",
            "Nothing is booked: the reason says how the customer pays, such as the number of an invoice.",
            "Record",
            ReasonForm,
        ),
    )
    def charged(self, request: HttpRequest, form: forms.Form, object_id: str) -> HttpResponse:
        return self._resolve(request, form, object_id, LostOutcome.CHARGED)

    @action(
        description="Write off",
        icon="money_off",
        permissions=["resolve"],
        dialog=dialog(
            "Write this call off",
            "The customer keeps what the receipt says. Nothing is booked.",
            "Write off",
            ReasonForm,
        ),
    )
    def written_off(self, request: HttpRequest, form: forms.Form, object_id: str) -> HttpResponse:
        return self._resolve(request, form, object_id, LostOutcome.WRITTEN_OFF)

    def _resolve(self, request: HttpRequest, form: forms.Form, object_id: str, outcome: LostOutcome) -> HttpResponse:
        reason, actor = form.cleaned_data["reason"], request.user.get_username()
        done = lost_receipts.resolve(object_id, outcome=outcome, reason=reason, actor=actor, now=timezone.now())
        if not done:
            return self.leave_dialog(request, object_id, TOO_LATE, messages.WARNING)
        return self.finish_dialog(request, form, object_id, outcome.label)

    @display(description="State", label=COLOURS)
    def stage(self, receipt: LostReceipt) -> str:
        return receipt.get_outcome_display() if receipt.outcome else OPEN
