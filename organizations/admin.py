"""The console's pages of organizations: to look at. Their own people run them, and each change is in the audit log."""

from django.contrib import admin
from django.db.models import Count, Q, QuerySet
from django.http import HttpRequest
from unfold.decorators import display

from gateway.core.console import ReadOnlyAdmin, ReadOnlyInline
from organizations.models import AuditEntry, Entitlement, Invitation, Membership, Organization, Seat
from organizations.portal.words import ACTIONS


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


class InvitationInline(ReadOnlyInline):
    """Invitations and what became of them; nobody has their tokens, of which only a hash is kept."""

    model = Invitation
    ordering = ("-created_at", "-id")
    fields = ("role", "email", "host", "created_at", "expires_at", "guest", "revoked_at")
    readonly_fields = fields
    show_change_link = False
    hide_title = True

    def get_queryset(self, request: HttpRequest) -> QuerySet[Invitation]:
        """Name hosts and guests in the same statement."""
        return super().get_queryset(request).select_related("invited_by__account", "accepted_by__account")

    @display(description="By")
    def host(self, invitation: Invitation) -> str:
        """Name who invited."""
        return str(invitation.invited_by.account)

    @display(description="Accepted by")
    def guest(self, invitation: Invitation) -> str:
        """Name who came."""
        return str(invitation.accepted_by.account) if invitation.accepted_by else ""


@admin.register(Organization)
class OrganizationAdmin(ReadOnlyAdmin):
    """Organizations. Their wallets and budgets stand with the money."""

    list_display = ("name", "id", "is_past_due", "created_at", "changed_at")
    list_filter = ("is_past_due",)
    search_fields = ("id__exact", "name")
    search_help_text = "The whole organization id, or a part of the name."
    ordering = ("-id",)
    fields = ("id", "name", "is_past_due", "version", "created_at", "changed_at")
    inlines = (MembershipInline, EntitlementInline, InvitationInline)


@admin.register(Seat)
class SeatAdmin(ReadOnlyAdmin):
    """Who has, or had, a seat for what."""

    list_display = ("id", "organization", "product", "member", "role", "assigned_at", "version")
    list_filter = (("assigned_at", admin.EmptyFieldListFilter),)
    list_select_related = ("entitlement", "membership__account", "membership__organization")
    search_fields = (
        "membership__organization__id__exact",
        "membership__id__exact",
        "membership__account__did__exact",
        "entitlement__product__slug__exact",
    )
    search_help_text = "The whole organization or membership id, DID or product."
    ordering = ("-id",)
    fields = ("id", "organization", "product", "member", "role", "assigned_at", "version")

    @display(description="Organization")
    def organization(self, seat: Seat) -> str:
        """Name the organization."""
        return str(seat.membership.organization)

    @display(description="Product")
    def product(self, seat: Seat) -> str:
        """Name the product."""
        return seat.entitlement.product_id

    @display(description="Member")
    def member(self, seat: Seat) -> str:
        """Name the person."""
        return str(seat.membership.account)

    @display(description="Role")
    def role(self, seat: Seat) -> str:
        """Name the member's role."""
        return seat.membership.role


class ActionFilter(admin.SimpleListFilter):
    """Filters by action without asking the table which there are."""

    title = "action"
    parameter_name = "action"

    def lookups(self, request: HttpRequest, model_admin: object) -> list[tuple[str, str]]:
        """List what can be done to an organization."""
        return [(action, action) for action in sorted(ACTIONS)]

    def queryset(self, request: HttpRequest, queryset: QuerySet[AuditEntry]) -> QuerySet[AuditEntry]:
        """Keep the chosen action."""
        return queryset.filter(action=self.value()) if self.value() else queryset


@admin.register(AuditEntry)
class AuditEntryAdmin(ReadOnlyAdmin):
    """Who did what in which organization."""

    list_display = ("id", "created_at", "organization", "action", "subject", "actor_did")
    list_filter = (ActionFilter, "created_at")
    list_select_related = ("organization",)
    search_fields = ("organization__id__exact", "actor_did__exact", "subject__exact", "action__exact")
    search_help_text = "The whole organization id, DID, subject or action."
    ordering = ("-id",)
    fields = ("id", "created_at", "organization", "action", "subject", "actor_did", "detail")
