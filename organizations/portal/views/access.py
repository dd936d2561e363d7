"""The page that shows what a person can use in an organization."""

from django.http import HttpRequest, HttpResponse
from django.views.decorators.http import require_GET

from accounts.models import Product
from accounts.queries.accounts import person
from organizations.models import Membership
from organizations.portal import texts
from organizations.portal.pages import member_page, show
from organizations.queries import access

TAB = "organization_access"


@require_GET
@member_page()
def index(request: HttpRequest, membership: Membership) -> HttpResponse:
    """Show the live access decision for every product."""
    org_id, did = membership.organization_id, person(request).did
    decisions = [(product, access.decide(org_id, did, product.slug)) for product in Product.objects.order_by("name")]
    rows = [(product, decision.allowed, texts.REASONS[decision.reason]) for product, decision in decisions]
    rows.sort(key=lambda row: not row[1])
    return show(request, membership, TAB, rows=rows)
