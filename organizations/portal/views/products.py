"""Pages for products: list, enable, disable, set seat caps."""

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404
from django.utils import timezone
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from accounts.models import Product
from accounts.queries.accounts import person
from billing.queries import external_mappings
from gateway.core.contract.amounts import usd
from organizations.models import Entitlement, Membership
from organizations.operations import products as operations
from organizations.portal.forms import SeatCapForm
from organizations.portal.pages import back_to, member_page, name_of, report_outcome, show
from organizations.queries import entitlements
from organizations.rules.roles import MONEY_MANAGERS, Role

TAB = "organization_products"
NAMES_SHOWN = 20


@require_GET
@member_page()
def index(request: HttpRequest, membership: Membership) -> HttpResponse:
    """List all products, with the organization's entitlements."""
    return _page(request, membership)


@require_http_methods(["GET", "POST"])
@member_page(*MONEY_MANAGERS)
def enable(request: HttpRequest, membership: Membership, product: str) -> HttpResponse:
    """Ask for confirmation, saying what it costs, and enable a product."""
    if request.method == "GET":
        return _confirm_cost(request, membership, get_object_or_404(Product, slug=product))
    with report_outcome(request, "The product was enabled. Now assign seats to the members who will use it."):
        operations.enable(org_id=membership.organization_id, product=product, actor_did=person(request).did)
    return back_to(TAB, membership)


@require_http_methods(["GET", "POST"])
@member_page(*MONEY_MANAGERS)
def disable(request: HttpRequest, membership: Membership, product: str) -> HttpResponse:
    """Ask for confirmation, listing the seats that end, and disable a product."""
    entitlement = _enabled(membership.organization_id, product)
    if request.method == "GET":
        return _confirm(request, membership, entitlement)
    with report_outcome(request, "The product was disabled and its seats were removed.") as outcome:
        operations.disable(org_id=membership.organization_id, product=product, actor_did=person(request).did)
    if outcome.error:
        return _confirm(request, membership, entitlement, status=outcome.error.status)
    return back_to(TAB, membership)


@require_POST
@member_page(*MONEY_MANAGERS)
def cap(request: HttpRequest, membership: Membership, product: str) -> HttpResponse:
    """Set or clear the seat cap."""
    form = SeatCapForm(request.POST)
    if not form.is_valid():
        messages.error(request, "The seat cap must be a whole number. Leave it empty for no cap.")
        return _page(request, membership, 400, product=product, typed=request.POST.get("max_seats", ""))
    max_seats = form.cleaned_data["max_seats"]
    done = (
        "There is no seat cap now." if max_seats is None else f"The seat cap is now {max_seats}. Nobody loses a seat."
    )
    with report_outcome(request, done):
        operations.set_cap(
            org_id=membership.organization_id, product=product, max_seats=max_seats, actor_did=person(request).did
        )
    return back_to(TAB, membership)


def _page(request: HttpRequest, membership: Membership, status: int = 200, **refused: str) -> HttpResponse:
    """Render the list. After a refused limit, the field of `product` shows the `typed` text."""
    had = {one.product_id: one for one in entitlements.with_counts().filter(organization=membership.organization)}
    rows = [(product, had.get(product.slug), usd(product.seat_price_microusd)) for product in _catalogue()]
    rows.sort(key=lambda row: not (row[1] and row[1].is_enabled))
    elsewhere = external_mappings.products_of(membership.organization_id, before=timezone.now())
    is_owner = membership.role == Role.OWNER
    context = {"rows": rows, "elsewhere": elsewhere, "is_owner": is_owner, "refused": refused}
    return show(request, membership, TAB, status=status, **context)


def _confirm_cost(request: HttpRequest, membership: Membership, product: Product) -> HttpResponse:
    elsewhere = external_mappings.products_of(membership.organization_id, before=timezone.now())
    context = {"product": product, "is_billed_elsewhere": product.slug in elsewhere}
    return show(request, membership, TAB, template="organization_product_enable", **context)


def _confirm(request: HttpRequest, membership: Membership, entitlement: Entitlement, status: int = 200) -> HttpResponse:
    ending = entitlement.seats.filter(assigned_at__isnull=False).select_related("membership__account")
    names = [name_of(seat.membership.account) for seat in ending[:NAMES_SHOWN]]
    more = max(entitlements.assigned_seats(entitlement) - len(names), 0)
    context = {"entitlement": entitlement, "names": names, "more": more}
    return show(request, membership, TAB, template="organization_product_disable", status=status, **context)


def _catalogue() -> list[Product]:
    return list(Product.objects.order_by("name"))


def _enabled(org_id: str, product: str) -> Entitlement:
    found = entitlements.with_counts().filter(organization=org_id, product_id=product, is_enabled=True).first()
    if found is None:
        raise Http404
    return found
