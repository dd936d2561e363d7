"""Pages for seats: list, assign, remove."""

from django.db.models import OuterRef, Subquery
from django.http import Http404, HttpRequest, HttpResponse, QueryDict
from django.shortcuts import get_object_or_404
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from accounts.models import Product
from accounts.queries.accounts import person
from gateway.core.contract.errors import NotFound
from organizations.models import Entitlement, Membership, Seat
from organizations.operations import seats as operations
from organizations.portal import texts
from organizations.portal.pages import back_to, member_page, name_of, paged, report_outcome, show
from organizations.queries import entitlements, memberships, seats
from organizations.rules.roles import PEOPLE_MANAGERS, SEES_ALL_SEATS

TAB = "organization_seats"


@require_GET
@member_page()
def index(request: HttpRequest, membership: Membership) -> HttpResponse:
    """Show a product's seats for all members. A plain member sees only their own seats."""
    if membership.role not in SEES_ALL_SEATS:
        own = seats.visible_to(membership, None).select_related("entitlement__product")
        return show(request, membership, TAB, own=own)
    enabled = list(
        entitlements.with_counts()
        .filter(organization=membership.organization, is_enabled=True)
        .select_related("product")
    )
    requested = request.GET.get("of")
    chosen = next((one for one in enabled if one.product_id == requested), enabled[0] if enabled else None)
    rows = paged(request, _with_seats(membership.organization_id, chosen)) if chosen else None
    for row in rows or ():
        row.person = name_of(row.account)
    why_not = _refusal_reason(membership, chosen) if chosen else ""
    return show(request, membership, TAB, enabled=enabled, chosen=chosen, rows=rows, why_not=why_not)


@require_POST
@member_page(*PEOPLE_MANAGERS)
def assign(request: HttpRequest, membership: Membership, product: str, membership_id: str) -> HttpResponse:
    """Assign a seat to a member."""
    with report_outcome(request, "The seat was assigned."):
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
    """Ask for confirmation, listing the consequences, and remove a member's seat."""
    if request.method == "GET":
        return _confirm(request, membership, product, membership_id)
    with report_outcome(request, "The seat was removed.") as outcome:
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
    """Render the confirmation page. Raises Http404 if there is no such product or member."""
    try:
        target = memberships.in_organization(membership.organization_id, membership_id)
    except NotFound:
        raise Http404 from None
    context = {
        "target": target,
        "name": name_of(target.account),
        "product": get_object_or_404(Product, slug=product),
        "page": request.POST.get("page") or request.GET.get("page", ""),
    }
    return show(request, membership, TAB, template="organization_seat_remove", status=status, **context)


def _refusal_reason(membership: Membership, entitlement: Entitlement) -> str:
    """Return why no seat of a product can be assigned now, or an empty string."""
    if membership.organization.is_past_due:
        return texts.ERRORS["billing_past_due"]
    if entitlement.max_seats is not None and entitlements.assigned_seats(entitlement) >= entitlement.max_seats:
        return texts.ERRORS["seat_cap_reached"]
    return ""


def _with_seats(org_id: str, entitlement: Entitlement) -> "memberships.QuerySet[Membership]":
    """List active members, those with a seat first, each with the time of assignment."""
    held = Seat.objects.filter(entitlement=entitlement, membership=OuterRef("pk")).values("assigned_at")[:1]
    active = memberships.every(org_id).filter(removed_at__isnull=True)
    return active.annotate(seated_at=Subquery(held)).order_by("seated_at", "-created_at", "-id")


def _back(request: HttpRequest, membership: Membership, product: str) -> HttpResponse:
    query = QueryDict(mutable=True)
    query["of"] = product  # `product` in a link selects the portal's appearance
    if page := request.POST.get("page"):
        query["page"] = page
    return back_to(TAB, membership, query.urlencode())
