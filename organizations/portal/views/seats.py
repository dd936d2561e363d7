"""Seats: who has one for which product."""

from django.db.models import OuterRef, Subquery
from django.http import Http404, HttpRequest, HttpResponse, QueryDict
from django.shortcuts import get_object_or_404
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from accounts.models import Product
from accounts.queries.accounts import person
from gateway.core.contract.errors import NotFound
from organizations.models import Entitlement, Membership, Seat
from organizations.operations import seats as operations
from organizations.portal import words
from organizations.portal.pages import back_to, member_page, name_of, paged, show, told
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
    why_not = _why_not(membership, chosen) if chosen else ""
    return show(request, membership, TAB, enabled=enabled, chosen=chosen, rows=rows, why_not=why_not)


@require_POST
@member_page(*PEOPLE_MANAGERS)
def assign(request: HttpRequest, membership: Membership, product: str, membership_id: str) -> HttpResponse:
    """Assign a seat to a member."""
    with told(request, "The seat was assigned."):
        operations.assign(
            org_id=membership.organization_id,
            product=product,
            membership_id=membership_id,
            actor_did=person(request).did,
        )
    return _back(request, membership, product)


@require_http_methods(["GET", "POST"])
@member_page(*PEOPLE_MANAGERS)
def revoke(request: HttpRequest, membership: Membership, product: str, membership_id: str) -> HttpResponse:
    """Ask whether to remove a member's seat, saying what ends, and do so."""
    if request.method == "GET":
        return _confirm(request, membership, product, membership_id)
    with told(request, "The seat was removed.") as outcome:
        operations.revoke(
            org_id=membership.organization_id,
            product=product,
            membership_id=membership_id,
            actor_did=person(request).did,
        )
    if outcome.error:
        return _confirm(request, membership, product, membership_id, status=outcome.error.status)
    return _back(request, membership, product)


def _confirm(
    request: HttpRequest, membership: Membership, product: str, membership_id: str, status: int = 200
) -> HttpResponse:
    """Render the page that asks. Raises Http404 where there is no such product or member."""
    try:
        target = memberships.in_organization(membership.organization_id, membership_id)
    except NotFound:
        raise Http404 from None
    about = {
        "target": target,
        "name": name_of(target.account),
        "product": get_object_or_404(Product, slug=product),
        "page": request.POST.get("page") or request.GET.get("page", ""),
    }
    return show(request, membership, TAB, template="organization_seat_remove", status=status, **about)


def _why_not(membership: Membership, entitlement: Entitlement) -> str:
    """Return why no seat of a product can be assigned now; empty where one can be."""
    if membership.organization.is_past_due:
        return words.ERRORS["billing_past_due"]
    if entitlement.max_seats is not None and entitlements.assigned_seats(entitlement) >= entitlement.max_seats:
        return words.ERRORS["seat_cap_reached"]
    return ""


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
