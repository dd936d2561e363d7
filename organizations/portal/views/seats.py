"""Seats: who has one for which product."""

from django.db.models import OuterRef, Subquery
from django.http import HttpRequest, HttpResponse, QueryDict
from django.views.decorators.http import require_GET, require_POST

from organizations.models import Entitlement, Membership, Seat
from organizations.operations import seats as operations
from organizations.portal.pages import back_to, member_page, name_of, paged, person, show, told
from organizations.queries import entitlements, memberships, seats
from organizations.rules.roles import PEOPLE_MANAGERS, SEES_ALL_SEATS

TAB = "organization_seats"


@require_GET
@member_page()
def index(request: HttpRequest, membership: Membership) -> HttpResponse:
    """Show a product's seats beside the members, or to a plain member its own seats."""
    if membership.role not in SEES_ALL_SEATS:
        own = seats.visible_to(membership, None).select_related("entitlement__product")
        return show(request, membership, TAB, own=own)
    enabled = list(
        entitlements.with_counts()
        .filter(organization=membership.organization, is_enabled=True)
        .select_related("product")
    )
    asked = request.GET.get("of")
    chosen = next((one for one in enabled if one.product_id == asked), enabled[0] if enabled else None)
    rows = paged(request, _with_seats(membership.organization_id, chosen)) if chosen else None
    for row in rows or ():
        row.person = name_of(row.account)
    return show(request, membership, TAB, enabled=enabled, chosen=chosen, rows=rows)


@require_POST
@member_page(*PEOPLE_MANAGERS)
def assign(request: HttpRequest, membership: Membership, product: str, membership_id: str) -> HttpResponse:
    """Give a member a seat."""
    with told(request, "The seat is given."):
        operations.assign(
            org_id=membership.organization_id,
            product=product,
            membership_id=membership_id,
            actor_did=person(request).did,
        )
    return _back(request, membership, product)


@require_POST
@member_page(*PEOPLE_MANAGERS)
def revoke(request: HttpRequest, membership: Membership, product: str, membership_id: str) -> HttpResponse:
    """Take a member's seat."""
    with told(request, "The seat is free again."):
        operations.revoke(
            org_id=membership.organization_id,
            product=product,
            membership_id=membership_id,
            actor_did=person(request).did,
        )
    return _back(request, membership, product)


def _with_seats(org_id: str, entitlement: Entitlement) -> "memberships.QuerySet[Membership]":
    """List active members with the time since when each has a seat, those who have one first."""
    held = Seat.objects.filter(entitlement=entitlement, membership=OuterRef("pk")).values("assigned_at")[:1]
    active = memberships.every(org_id).filter(removed_at__isnull=True)
    return active.annotate(seated_at=Subquery(held)).order_by("seated_at", "-created_at", "-id")


def _back(request: HttpRequest, membership: Membership, product: str) -> HttpResponse:
    query = QueryDict(mutable=True)
    query["of"] = product  # `product` in a link chooses the portal's look
    if page := request.POST.get("page"):
        query["page"] = page
    return back_to(TAB, membership, query.urlencode())
