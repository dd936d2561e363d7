"""Checkouts, including those in review, provider events, and external billing of seats."""

from django.contrib import admin, messages
from django.http import HttpRequest, HttpResponse
from django.utils import timezone
from unfold.decorators import action, display

from billing.adapters.base import ProviderError
from billing.admin.owners import SEARCH_HELP
from billing.models import Checkout, CheckoutStatus, ExternalMapping, ProviderEvent
from billing.operations import checkout_reviews, checkouts
from gateway.core.console import PartyColumn, ReadOnlyAdmin, ReasonForm, dialog, may_act, money
from gateway.core.contract.amounts import usd
from gateway.core.contract.errors import IntegrationUnavailable

STATUS_COLOURS = {
    CheckoutStatus.CREATING.label: "info",
    CheckoutStatus.OPEN.label: "info",
    CheckoutStatus.PAID.label: "success",
    CheckoutStatus.COMPLETED.label: "success",
    CheckoutStatus.EXPIRED.label: "default",
    CheckoutStatus.REVIEW.label: "warning",
}
RIGHT = "billing.change_checkout"
NOT_RESPONDING = "The payment provider is not responding or is not configured. Nothing was changed."
TOO_LATE = "Someone else has resolved this checkout, or it has changed. Check it again."


@admin.register(Checkout)
class CheckoutAdmin(ReadOnlyAdmin):
    """Checkouts. A checkout in review can be credited or dismissed here, once."""

    empty_text = (
        "One is made when a person adds money in the portal. That needs a payment provider: set STRIPE_SECRET_KEY."
    )
    owner = PartyColumn("Owner", "owner_key", kind_path="owner_kind")
    payer = PartyColumn("Requested by", "requested_by")
    amount = money("Amount", "amount_microusd")

    list_display = (
        "id",
        "created_at",
        "stage",
        "kind",
        "amount",
        "refunded",
        "owner",
        "product",
        "review_reason",
    )
    list_filter = ("status", "kind", "is_live", "created_at")
    search_fields = ("id__exact", "session_ref__exact", "payment_ref__exact", "owner_key__exact")
    party_fields = ("owner_key", "requested_by")
    search_help_text = SEARCH_HELP
    ordering = ("-created_at",)
    actions_detail = ("ask_again", "credit", "dismiss")
    fieldsets = (
        (None, {"fields": ("id", "stage", "kind", "amount", "refunded", "product", "review_reason")}),
        ("Parties", {"fields": ("owner", "payer", "idempotency_key")}),
        ("Payment provider", {"fields": ("provider", "is_live", "session_ref", "payment_ref", "customer_ref")}),
        ("Timestamps", {"fields": ("created_at", "expires_at", "paid_at", "checked_at", "next_check_at", "checks")}),
    )

    def has_ask_permission(self, request: HttpRequest, object_id: str | None = None) -> bool:
        return may_act(request, RIGHT, Checkout.objects.all(), object_id)

    def has_resolve_permission(self, request: HttpRequest, object_id: str | None = None) -> bool:
        return may_act(request, RIGHT, Checkout.objects.filter(status=CheckoutStatus.REVIEW), object_id)

    @action(
        description="Ask the provider again",
        icon="sync",
        permissions=["ask"],
        dialog=dialog(
            "Ask the provider again",
            "This updates the checkout and the ledger to match the provider's record, as the scheduled job does.",
            "Ask",
            ReasonForm,
        ),
    )
    def ask_again(self, request: HttpRequest, form: ReasonForm, object_id: str) -> HttpResponse:
        """Make checkout and ledger match the provider's record now."""
        try:
            after = checkouts.converge(Checkout.objects.get(pk=object_id), now=timezone.now())
        except (IntegrationUnavailable, ProviderError):
            return self.leave_dialog(request, object_id, NOT_RESPONDING, messages.ERROR)
        label = CheckoutStatus(after.status).label
        self.log_change(request, after, f"Asked the provider again, {label.lower()}: {form.cleaned_data['reason']}")
        return self.leave_dialog(
            request, object_id, f"The provider responded. The checkout is now {label.lower()}.", messages.SUCCESS
        )

    @action(
        description="Credit the amount paid",
        icon="paid",
        permissions=["resolve"],
        dialog=dialog(
            "Credit the amount paid",
            "The provider is asked, and the wallet is credited with exactly the amount that was paid there, if it is in "
            "US dollars and in the right mode. The credit is booked once and cannot be undone.",
            "Credit",
            ReasonForm,
        ),
    )
    def credit(self, request: HttpRequest, form: ReasonForm, object_id: str) -> HttpResponse:
        """Post the payment as the operator decided."""
        try:
            credited = checkout_reviews.credit(object_id, now=timezone.now())
        except checkout_reviews.NotCreditable as refusal:
            return self.leave_dialog(request, object_id, str(refusal), messages.ERROR)
        except (IntegrationUnavailable, ProviderError):
            return self.leave_dialog(request, object_id, NOT_RESPONDING, messages.ERROR)
        if credited is None:
            return self.leave_dialog(request, object_id, TOO_LATE, messages.WARNING)
        return self.finish_dialog(request, form, object_id, f"Credited {usd(credited)}")

    @action(
        description="Dismiss",
        icon="do_not_disturb_on",
        permissions=["resolve"],
        dialog=dialog(
            "Dismiss this checkout",
            "Nothing is credited. If money was paid, refund it at the provider.",
            "Dismiss",
            ReasonForm,
        ),
    )
    def dismiss(self, request: HttpRequest, form: ReasonForm, object_id: str) -> HttpResponse:
        """End the review without a credit."""
        if not checkouts.dismiss(object_id, now=timezone.now()):
            return self.leave_dialog(request, object_id, TOO_LATE, messages.WARNING)
        return self.finish_dialog(request, form, object_id, "Dismissed")

    @display(description="Status", label=STATUS_COLOURS)
    def stage(self, checkout: Checkout) -> str:
        return CheckoutStatus(checkout.status).label

    @display(description="Refunded or disputed")
    def refunded(self, checkout: Checkout) -> str:
        return usd(checkout.taken_back_microusd or None)


@admin.register(ProviderEvent)
class ProviderEventAdmin(ReadOnlyAdmin):
    """Signed webhook events, and the checkouts that they referred to."""

    empty_text = "The payment provider sends them to /webhooks/stripe, once that address is set up there."
    list_display = ("event_id", "type", "object_ref", "checkout_id", "received_at", "handled_at")
    list_filter = (("handled_at", admin.EmptyFieldListFilter), "received_at")
    search_fields = ("event_id__exact", "object_ref__exact", "payment_ref__exact", "checkout_id__exact")
    search_help_text = "The complete ID of an event, of its object or of a transaction."
    ordering = ("-received_at",)


@admin.register(ExternalMapping)
class ExternalMappingAdmin(ReadOnlyAdmin):
    """Products whose seats are billed by an account at a provider."""

    empty_text = "The API makes one when a provider's account is to bill an organization's seats."
    organization = PartyColumn("Organization", "org_id", kind="organization", is_linked=False)
    verifier = PartyColumn("Verified by", "verified_by")

    list_display = ("organization", "product", "provider", "external_org_id", "mode", "verifier", "verified_at")
    list_filter = ("provider", "mode")
    search_fields = ("org_id__exact", "external_org_id__exact", "product__exact")
    party_fields = ("org_id", "verified_by")
    search_help_text = SEARCH_HELP
    ordering = ("-id",)
    fields = list_display
