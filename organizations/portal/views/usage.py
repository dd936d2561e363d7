"""The usage page: an organization's use in a month, and the cost of its seats."""

from collections.abc import Collection, Iterable
from datetime import datetime
from typing import Any

from django.http import Http404, HttpRequest, HttpResponse, StreamingHttpResponse
from django.utils import timezone
from django.views.decorators.http import require_GET

from accounts.models import Product
from accounts.operations import limits
from accounts.queries.accounts import person
from billing.models import InvoiceStatus
from billing.queries import invoices, usage_csv, usage_months, usage_pages
from billing.rules.months import Month
from billing.rules.usage_lines import Line, Named, lines
from billing.rules.usage_reports import MemberUse
from gateway.core.contract.amounts import decimals_of
from gateway.core.contract.errors import OrgReportLimit
from gateway.core.contract.route_limits import REPORTS
from gateway.core.http.rate_limits import note
from gateway.core.portal.csv_files import csv_response, name_part
from organizations.models import Membership
from organizations.portal import texts
from organizations.portal.pages import member_page, name_of, owner_of, show
from organizations.queries import memberships, seat_estimate
from organizations.rules.roles import MONEY_MANAGERS

TAB = "organization_usage"
NO_PRODUCT, NO_MEMBER = "No product", "No member"


@require_GET
@member_page(*MONEY_MANAGERS)
def index(request: HttpRequest, membership: Membership) -> HttpResponse:
    """Show a month's use by day, by product and member, and by model, and the cost of its seats."""
    org_id, now = membership.organization_id, timezone.now()
    note(request, limits.take(REPORTS, person(request).did, now=now))
    choice = usage_months.choose(owner_of(membership), request.GET.get("month"), now)
    if choice.month is None:
        return show(request, membership, TAB, status=404, choice=choice)
    used = usage_pages.of_month(owner_of(membership), choice.month, now)
    products = dict(Product.objects.values_list("slug", "name"))
    seats = _estimate(org_id, products, now) if choice.is_current else _invoice(org_id, choice.month)
    member_lines = _member_lines(org_id, used.members.rows, products)
    return show(request, membership, TAB, choice=choice, used=used, member_lines=member_lines, **seats)


@require_GET
@member_page(*MONEY_MANAGERS)
def export(request: HttpRequest, membership: Membership) -> StreamingHttpResponse:
    """Return every call of a month as a CSV file."""
    org_id, owner, now = membership.organization_id, owner_of(membership), timezone.now()
    note(request, limits.take(REPORTS, person(request).did, now=now))
    choice = usage_months.choose(owner, request.GET.get("month"), now)
    if choice.month is None:
        raise Http404
    name = f"usage-{name_part(membership.organization.name, org_id)}-{choice.name}"
    rows = usage_csv.rows(owner, choice.month, lambda ids: _people(org_id, ids))
    return csv_response(name, usage_csv.HEADER, rows)


def _people(org_id: str, ids: Collection[str]) -> dict[str, str]:
    return {one.pk: name_of(one.account) for one in memberships.named(org_id, ids)}


def _member_lines(org_id: str, rows: Iterable[MemberUse], products: dict[str, str]) -> list[Line]:
    found = list(rows)
    people = _people(org_id, {row.membership_id for row in found if row.membership_id})
    return lines(
        Named(
            row.membership_id or row.did,
            people.get(row.membership_id or "", NO_MEMBER),
            row.use,
            products.get(row.product or "", row.product or NO_PRODUCT),
        )
        for row in found
    )


def _estimate(org_id: str, products: dict[str, str], now: datetime) -> dict[str, Any]:
    """Return the estimate for this month's seats."""
    try:
        seats = seat_estimate.estimate(org_id, now)
    except OrgReportLimit as error:
        return {"too_much": texts.of_error(error)}
    costs = [cost for one in seats.products for cost in (one.accrued_microusd, one.projected_microusd)]
    estimates = [(products.get(one.product, one.product), one) for one in seats.products]
    return {"seats": seats, "estimates": estimates, "seat_places": decimals_of(costs)}


def _invoice(org_id: str, month: Month) -> dict[str, Any]:
    """Return the invoice for a past month's seats. A void one is returned only if it was not replaced."""
    found = invoices.of_organization(org_id).filter(period_start=month[0])
    return {"invoice": found.exclude(status=InvoiceStatus.VOID).first() or found.first()}
