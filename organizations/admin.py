"""Console pages for organizations. Their own members manage them, and the audit log records each change; operators suspend them."""

from typing import Any

from django import forms
from django.contrib import admin, messages
from django.db.models import Count, Q, QuerySet
from django.http import HttpRequest, HttpResponse
from django.urls import reverse
from django.utils.html import format_html
from unfold.decorators import action, display
from unfold.widgets import UnfoldAdminTextareaWidget

from accounts.queries.accounts import person
from gateway.core.console import (
    PartyColumn,
    ReadOnlyAdmin,
    ReadOnlyInline,
    ReasonForm,
    WordFilter,
    dialog,
    links,
    may_act,
    parties,
)
from organizations.models import AuditEntry, Entitlement, Invitation, Membership, Organization, Seat
from organizations.operations import suspension
from organizations.portal.texts import ACTIONS

SUSPEND = "organizations.suspend_organization"

parties.register("organization", parties.Source(Organization, key="id", name="name"))


class MembershipInline(ReadOnlyInline):
    """Members, including removed ones."""

    person = PartyColumn("Member", "account")

    model = Membership
    ordering = ("-created_at", "-id")
    fields = ("person", "role", "created_at", "removed_at")

    def get_queryset(self, request: HttpRequest) -> QuerySet[Membership]:
        return super().get_queryset(request).select_related("account")


class EntitlementInline(ReadOnlyInline):
    """Products, with the number of assigned seats."""

    model = Entitlement
    ordering = ("product",)
    fields = ("product", "is_enabled", "seats_taken", "max_seats")

    def get_queryset(self, request: HttpRequest) -> QuerySet[Entitlement]:
        taken = Count("seats", filter=Q(seats__assigned_at__isnull=False))
        return super().get_queryset(request).select_related("product").annotate(taken=taken)

    @display(description="Seats assigned")
    def seats_taken(self, entitlement: Entitlement) -> int:
        return getattr(entitlement, "taken", 0)


class InvitationInline(ReadOnlyInline):
    """Invitations and their outcomes. Their tokens are stored only as hashes."""

    host = PartyColumn("Invited by", "invited_by.account")
    guest = PartyColumn("Accepted by", "accepted_by.account")

    model = Invitation
    ordering = ("-created_at", "-id")
    fields = ("role", "email", "host", "created_at", "expires_at", "guest", "revoked_at")

    def get_queryset(self, request: HttpRequest) -> QuerySet[Invitation]:
        return super().get_queryset(request).select_related("invited_by__account", "accepted_by__account")


class SuspendForm(ReasonForm):
    """Asks why, for the log, and what the members are told."""

    text = forms.CharField(
        label="What members are told",
        required=False,
        max_length=Organization.SUSPENSION_TEXT_MAX_CHARACTERS,
        widget=UnfoldAdminTextareaWidget(attrs={"rows": 3}),
        help_text="Shown in the portal, and mailed to owners and billing members. Empty: only that it is suspended.",
    )
    field_order = ("reason", "text")


@admin.register(Organization)
class OrganizationAdmin(ReadOnlyAdmin):
    """Organizations. Their wallets and budgets are listed under Money."""

    empty_text = "People create organizations in the portal. Support can look at them here."
    list_display = ("name", "id", "is_past_due", "suspended_at", "created_at", "changed_at")
    list_filter = ("is_past_due", ("suspended_at", admin.EmptyFieldListFilter))
    actions_detail = ("suspend", "unsuspend")
    search_fields = (
        "id__exact",
        "name",
        *(f"memberships__account__{name}" for name in ("display_name", "email", "did")),
    )
    search_help_text = "A complete organization ID, or part of its name or of a member's name, email address or DID."
    ordering = ("-id",)
    fields = (
        *("name", "id", "related", "is_past_due", "suspended_at", "suspension_text"),
        *("version", "created_at", "changed_at"),
    )
    inlines = (MembershipInline, EntitlementInline, InvitationInline)

    def has_suspend_permission(self, request: HttpRequest, object_id: str | None = None) -> bool:
        """Allow operators with the right to suspend an organization."""
        return may_act(request, SUSPEND, Organization.objects.filter(suspended_at=None), object_id)

    def has_unsuspend_permission(self, request: HttpRequest, object_id: str | None = None) -> bool:
        """Allow the same operators to lift its suspension."""
        return may_act(request, SUSPEND, Organization.objects.exclude(suspended_at=None), object_id)

    @action(
        description="Suspend",
        icon="block",
        permissions=["suspend"],
        dialog=dialog(
            "Suspend this organization",
            "Its tokens are refused at once, and nothing is charged to it automatically. Streams and sessions end within seconds, "
            "other requests that are being processed are completed. Its wallet is unchanged. Members can still look at it in the "
            "portal, pay and download.",
            "Suspend",
            SuspendForm,
        ),
    )
    def suspend(self, request: HttpRequest, form: SuspendForm, object_id: str) -> HttpResponse:
        text = form.cleaned_data["text"]
        is_new = suspension.suspend(org_id=object_id, text=text, actor_did=person(request).did)
        done = f"Suspended, and told its members “{text}”" if text else "Suspended"
        return self._finish(request, form, object_id, is_new, done)

    @action(
        description="Lift suspension",
        icon="lock_open",
        permissions=["unsuspend"],
        dialog=dialog(
            "Lift this organization's suspension",
            "Apps can make calls for it again, and what is due is charged automatically again.",
            "Lift",
            ReasonForm,
        ),
    )
    def unsuspend(self, request: HttpRequest, form: ReasonForm, object_id: str) -> HttpResponse:
        is_new = suspension.lift(org_id=object_id, actor_did=person(request).did)
        return self._finish(request, form, object_id, is_new, "Suspension lifted")

    def _finish(self, request: HttpRequest, form: Any, object_id: str, is_new: bool, done: str) -> HttpResponse:
        if is_new:
            return self.finish_dialog(request, form, object_id, done)
        return self.leave_dialog(request, object_id, "Someone else has just done this.", messages.WARNING)

    @display(description="See also")
    def related(self, organization: Organization) -> str:
        """Link to the organization's page for support, and to its wallet, calls and log."""
        page = reverse("admin:customers_organization", args=[organization.pk])
        tables = {
            "Wallet": "billing_wallet",
            "Credits": "billing_creditlot",
            "Calls": "billing_call",
            "Budgets": "billing_budget",
            "Seats": "organizations_seat",
            "Audit log": "organizations_auditentry",
        }
        others = links((title, table, organization.pk) for title, table in tables.items())
        return format_html('<a class="underline" href="{}">Everything at a glance</a>, {}', page, others)


@admin.register(Seat)
class SeatAdmin(ReadOnlyAdmin):
    """Current and past seats."""

    empty_text = "Owners and admins of an organization assign seats in the portal."
    organization = PartyColumn("Organization", "membership.organization")
    member = PartyColumn("Member", "membership.account")

    list_display = ("id", "organization", "product", "member", "role", "assigned_at", "version")
    list_filter = (("assigned_at", admin.EmptyFieldListFilter),)
    list_select_related = ("entitlement", "membership__account", "membership__organization")
    search_fields = (
        "membership__id__exact",
        "entitlement__product__slug__exact",
    )
    party_fields = ("membership__account__did", "membership__organization_id")
    search_help_text = "Part of a name, email address or DID, or a complete ID or product."
    ordering = ("-id",)
    fields = ("id", "organization", "product", "member", "role", "assigned_at", "version")

    @display(description="Product")
    def product(self, seat: Seat) -> str:
        return seat.entitlement.product_id

    @display(description="Role")
    def role(self, seat: Seat) -> str:
        return seat.membership.role


class ActionFilter(WordFilter):
    """Filters by action."""

    title = parameter_name = "action"
    words = tuple(sorted(ACTIONS))


@admin.register(AuditEntry)
class AuditEntryAdmin(ReadOnlyAdmin):
    """The audit log."""

    empty_text = "What members change in their organizations is listed here."
    where = PartyColumn("Organization", "organization")
    actor = PartyColumn("By", "actor_did")

    list_display = ("id", "created_at", "where", "action", "subject", "actor")
    list_filter = (ActionFilter, "created_at")
    list_select_related = ("organization",)
    search_fields = ("organization__id__exact", "actor_did__exact", "subject__exact", "action__exact")
    party_fields = ("actor_did", "organization_id")
    search_help_text = "Part of a name, email address or DID, or a complete ID, subject or action."
    ordering = ("-id",)
    fields = ("id", "created_at", "where", "action", "subject", "actor", "detail")
