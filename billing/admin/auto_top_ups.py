"""Automatic top-up: the terms of each wallet, which an operator can pause, and the charges."""

from django.contrib import admin, messages
from django.http import HttpRequest, HttpResponse
from django.utils import timezone
from unfold.decorators import action, display

from billing.admin.owners import OWNER, SEARCH_HELP
from billing.models import AutoTopUp, AutoTopUpCharge, AutoTopUpStatus
from billing.operations import auto_top_up_bookings, auto_top_ups
from billing.queries import auto_top_ups as queries
from billing.rules.auto_top_ups import OPERATOR
from gateway.core.console import PartyColumn, ReadOnlyAdmin, ReasonForm, dialog, links, may_act, money
from gateway.core.contract.amounts import usd

RIGHT = "billing.change_autotopup"
CHARGES_RIGHT = "billing.change_autotopupcharge"
STATUS_COLOURS = {
    AutoTopUpStatus.WAITING.label: "info",
    AutoTopUpStatus.SENDING.label: "info",
    AutoTopUpStatus.PROCESSING.label: "info",
    AutoTopUpStatus.REVIEW.label: "warning",
    AutoTopUpStatus.SUCCEEDED.label: "success",
    AutoTopUpStatus.FAILED.label: "danger",
}
TOO_LATE = "Someone else has paused or resumed it, or it has changed."
NO_REVIEW = "The charge is not in review any more."


@admin.register(AutoTopUp)
class AutoTopUpAdmin(ReadOnlyAdmin):
    """The terms that owners set. An operator's pause is ended by an operator only."""

    empty_text = "People turn it on in the portal, under Wallet."
    threshold = money("Below", "threshold_microusd")
    amount = money("Charge", "amount_microusd")
    limit = money("At most per month", "monthly_limit_microusd")

    owner = OWNER
    unlinked_owner = PartyColumn("Owner", "wallet.owner_key", kind_path="wallet.owner_kind", is_linked=False)
    setter = PartyColumn("Set by", "requested_by")

    list_display = (
        "unlinked_owner",
        "is_enabled",
        "threshold",
        "amount",
        "limit",
        "paused_at",
        "pause_reason",
        "changed_at",
    )
    list_filter = ("is_enabled", ("paused_at", admin.EmptyFieldListFilter))
    list_select_related = ("wallet",)
    search_fields = ("wallet__id__exact", "wallet__owner_key__exact")
    party_fields = ("wallet__owner_key",)
    search_help_text = SEARCH_HELP
    ordering = ("-changed_at",)
    actions_detail = ("pause", "resume")
    fields = (
        *("owner", "wallet", "is_enabled", "threshold", "amount", "limit", "used", "setter", "changed_at"),
        *("paused_at", "pause_reason", "retry_at", "related"),
    )

    def has_pause_permission(self, request: HttpRequest, object_id: str | None = None) -> bool:
        return may_act(request, RIGHT, AutoTopUp.objects.exclude(pause_reason=OPERATOR), object_id)

    def has_resume_permission(self, request: HttpRequest, object_id: str | None = None) -> bool:
        return may_act(request, RIGHT, AutoTopUp.objects.exclude(paused_at=None), object_id)

    @action(
        description="Pause",
        icon="pause_circle",
        permissions=["pause"],
        dialog=dialog(
            "Pause automatic top-up",
            "Nothing is charged until an operator resumes it; a charge that was sent is still booked. The owner is told.",
            "Pause",
            ReasonForm,
        ),
    )
    def pause(self, request: HttpRequest, form: ReasonForm, object_id: str) -> HttpResponse:
        """Pause it until an operator resumes it."""
        if not auto_top_ups.pause(object_id, OPERATOR, now=timezone.now()):
            return self.leave_dialog(request, object_id, TOO_LATE, messages.WARNING)
        return self.finish_dialog(request, form, object_id, "Paused")

    @action(
        description="Resume",
        icon="play_circle",
        permissions=["resume"],
        dialog=dialog(
            "Resume automatic top-up",
            "The saved payment method is charged again when the wallet is low, if its owner has turned it on.",
            "Resume",
            ReasonForm,
        ),
    )
    def resume(self, request: HttpRequest, form: ReasonForm, object_id: str) -> HttpResponse:
        """End the pause."""
        if not auto_top_ups.resume(object_id, now=timezone.now()):
            return self.leave_dialog(request, object_id, TOO_LATE, messages.WARNING)
        return self.finish_dialog(request, form, object_id, "Resumed")

    @display(description="Charged this month")
    def used(self, row: AutoTopUp) -> str:
        """Return what this month's charges add up to."""
        return usd(queries.used_microusd(row.wallet_id, timezone.now()))

    @display(description="See also")
    def related(self, row: AutoTopUp) -> str:
        owner = row.wallet.owner_key
        return links([("Charges", "billing_autotopupcharge", owner), ("Checkouts", "billing_checkout", owner)])


@admin.register(AutoTopUpCharge)
class AutoTopUpChargeAdmin(ReadOnlyAdmin):
    """The charges. One that was paid has a checkout with the same id, where refunds and disputes are booked. One in review keeps its
    wallet's next charge waiting, until the provider's record agrees or an operator dismisses it."""

    empty_text = "One is made when a wallet with an automatic top-up falls below its threshold."
    amount = money("Amount", "amount_microusd")

    owner = OWNER
    setter = PartyColumn("Terms set by", "requested_by")

    list_display = ("id", "created_at", "stage", "amount", "owner", "failure_code", "ended_at")
    list_filter = ("status", "is_live", "created_at")
    list_select_related = ("wallet",)
    search_fields = ("id__exact", "payment_ref__exact", "wallet__owner_key__exact", "wallet__id__exact")
    party_fields = ("wallet__owner_key",)
    search_help_text = SEARCH_HELP
    ordering = ("-created_at",)
    actions_detail = ("dismiss",)
    fieldsets = (
        (None, {"fields": ("id", "stage", "amount", "owner", "setter", "failure_code", "failure_reason")}),
        ("Payment provider", {"fields": ("provider", "is_live", "payment_ref", "customer_ref", "method_ref")}),
        ("Timestamps", {"fields": ("created_at", "begun_at", "ended_at", "checked_at", "next_check_at")}),
    )

    def has_dismiss_permission(self, request: HttpRequest, object_id: str | None = None) -> bool:
        return may_act(request, CHARGES_RIGHT, AutoTopUpCharge.objects.filter(status=AutoTopUpStatus.REVIEW), object_id)

    @action(
        description="Dismiss",
        icon="do_not_disturb_on",
        permissions=["dismiss"],
        dialog=dialog(
            "Dismiss this charge",
            "Nothing is credited, and automatic top-up is paused until an operator resumes it. If money was paid, refund it at the provider.",
            "Dismiss",
            ReasonForm,
        ),
    )
    def dismiss(self, request: HttpRequest, form: ReasonForm, object_id: str) -> HttpResponse:
        """End the review without a credit."""
        if not auto_top_up_bookings.dismiss(object_id, now=timezone.now()):
            return self.leave_dialog(request, object_id, NO_REVIEW, messages.WARNING)
        return self.finish_dialog(request, form, object_id, "Dismissed")

    @display(description="Status", label=STATUS_COLOURS)
    def stage(self, charge: AutoTopUpCharge) -> str:
        return AutoTopUpStatus(charge.status).label
