"""Payments on which the provider's balance and this gateway do not agree."""

from django.contrib import admin, messages
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse
from django.utils import timezone
from unfold.decorators import action, display

from billing.models import PaymentDifference
from billing.operations import payment_differences
from gateway.core.console import ReadOnlyAdmin, ReasonForm, dialog, links, may_act, money

OPEN, CLOSED = "Open", "Closed"
COLOURS = {OPEN: "danger", CLOSED: "default"}
RIGHT = "billing.change_paymentdifference"
TOO_LATE = "The difference has been closed in the meantime."
TABLES = {"txn": ("Checkout", "billing_checkout"), "pay": ("Invoice", "billing_invoice")}


class StateFilter(admin.SimpleListFilter):
    """Separates open differences from closed ones."""

    title = "state"
    parameter_name = "state"

    def lookups(self, request: HttpRequest, model_admin: object) -> list[tuple[str, str]]:
        return [("open", OPEN), ("closed", CLOSED)]

    def queryset(self, request: HttpRequest, queryset: QuerySet[PaymentDifference]) -> QuerySet[PaymentDifference]:
        if self.value() == "open":
            return queryset.filter(closing=None)
        return queryset.exclude(closing=None) if self.value() == "closed" else queryset


@admin.register(PaymentDifference)
class PaymentDifferenceAdmin(ReadOnlyAdmin):
    """Differences. The match closes one once both sides agree; an operator can close one with a reason, once."""

    empty_text = "There is nothing to do: the provider's records and these agree."
    their_paid = money("Paid at the provider", "their_paid_microusd")
    their_kept = money("Kept at the provider", "their_kept_microusd")
    our_paid = money("Paid here", "our_paid_microusd")
    our_kept = money("Kept here", "our_kept_microusd")

    list_display = ("transaction_id", "found_at", "stage", "kind", "their_paid", "their_kept", "our_paid", "our_kept")
    list_filter = (StateFilter, "kind", "is_live", "found_at")
    list_select_related = ("closing",)
    search_fields = ("transaction_id__exact", "payment_ref__exact")
    search_help_text = "The complete ID of a transaction, or of a payment at the provider."
    ordering = ("-id",)
    actions_detail = ("resolve",)
    fieldsets = (
        (None, {"fields": ("transaction_id", "related", "stage", "kind", "found_at")}),
        ("Payment provider", {"fields": ("provider", "is_live", "payment_ref", "their_paid", "their_kept")}),
        ("This gateway", {"fields": ("our_paid", "our_kept")}),
        ("Closing", {"fields": ("closed_at", "closed_by", "reason")}),
    )

    def has_resolve_permission(self, request: HttpRequest, object_id: str | None = None) -> bool:
        return may_act(request, RIGHT, PaymentDifference.objects.filter(closing=None), object_id)

    @action(
        description="Resolve",
        icon="task_alt",
        permissions=["resolve"],
        dialog=dialog(
            "Resolve this difference",
            "This only records that someone has investigated it, and why it remains. Nothing is booked. A change of the "
            "amounts raises the alarm again.",
            "Resolve",
            ReasonForm,
        ),
    )
    def resolve(self, request: HttpRequest, form: ReasonForm, object_id: str) -> HttpResponse:
        reason, actor = form.cleaned_data["reason"], request.user.get_username()
        if not payment_differences.resolve(int(object_id), reason=reason, actor=actor, now=timezone.now()):
            return self.leave_dialog(request, object_id, TOO_LATE, messages.WARNING)
        return self.finish_dialog(request, form, object_id, "Resolved")

    @display(description="State", label=COLOURS)
    def stage(self, difference: PaymentDifference) -> str:
        return CLOSED if hasattr(difference, "closing") else OPEN

    @display(description="Look at")
    def related(self, difference: PaymentDifference) -> str:
        title, table = TABLES[difference.transaction_id.partition("_")[0]]
        return links([(title, table, difference.transaction_id)])

    @display(description="Closed at")
    def closed_at(self, difference: PaymentDifference) -> object:
        return difference.closing.closed_at if hasattr(difference, "closing") else None

    @display(description="Closed by")
    def closed_by(self, difference: PaymentDifference) -> str:
        """Name the operator or the job that closed it."""
        return (difference.closing.closed_by or "The match") if hasattr(difference, "closing") else ""

    @display(description="Reason")
    def reason(self, difference: PaymentDifference) -> str:
        return difference.closing.reason if hasattr(difference, "closing") else ""
