"""The console's pages of organizations: to look at. Their own people run them, and each change is in the audit log."""

from django.contrib import admin
from django.db.models import Count, Q, QuerySet
from django.http import HttpRequest
from unfold.decorators import display

from gateway.console import ReadOnlyAdmin, ReadOnlyInline
from organizations.models import AuditEntry, Entitlement, Membership, Organization


class MembershipInline(ReadOnlyInline):
    """Members, removed ones too."""

    model = Membership
    ordering = ("-created_at", "-id")
    fields = ("account", "role", "created_at", "removed_at")
    show_change_link = False
    hide_title = True

    def get_queryset(self, request: HttpRequest) -> QuerySet[Membership]:
        """Name the people in the same statement."""
        return super().get_queryset(request).select_related("account")


class EntitlementInline(ReadOnlyInline):
    """Products, and how many seats are taken."""

    model = Entitlement
    ordering = ("product",)
    fields = ("product", "is_enabled", "seats_taken", "max_seats")
    readonly_fields = fields
    show_change_link = False
    hide_title = True

    def get_queryset(self, request: HttpRequest) -> QuerySet[Entitlement]:
        """Count seats in the same statement."""
        taken = Count("seats", filter=Q(seats__assigned_at__isnull=False))
        return super().get_queryset(request).select_related("product").annotate(taken=taken)

    @display(description="Seats taken")
    def seats_taken(self, entitlement: Entitlement) -> int:
        """Count the seats that are assigned."""
        return getattr(entitlement, "taken", 0)


@admin.register(Organization)
class OrganizationAdmin(ReadOnlyAdmin):
    """Organizations. Their wallets and budgets stand with the money."""

    list_display = ("name", "id", "is_past_due", "created_at", "changed_at")
    list_filter = ("is_past_due",)
    search_fields = ("id__exact", "name")
    search_help_text = "The whole organization id, or a part of the name."
    ordering = ("-id",)
    fields = ("id", "name", "is_past_due", "version", "created_at", "changed_at")
    inlines = (MembershipInline, EntitlementInline)


@admin.register(AuditEntry)
class AuditEntryAdmin(ReadOnlyAdmin):
    """Who did what in which organization."""

    list_display = ("id", "created_at", "organization", "action", "subject", "actor_did")
    list_filter = ("created_at",)
    list_select_related = ("organization",)
    search_fields = ("organization__id__exact", "actor_did__exact", "subject__exact")
    search_help_text = "The whole organization id, DID or subject."
    ordering = ("-id",)
    fields = ("id", "created_at", "organization", "action", "subject", "actor_did", "detail")
