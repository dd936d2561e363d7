"""A person's monthly usage: figures, a chart, tables, and the cost of each call."""

from django.http import Http404, HttpRequest, HttpResponse, StreamingHttpResponse
from django.utils import timezone
from django.utils.http import content_disposition_header

from accounts.models import Product
from accounts.operations import limits
from accounts.queries import app_names
from accounts.queries.accounts import person
from billing.models import Call
from billing.portal.pages import owner_of, personal, show
from billing.queries import charges, seals, usage_calls, usage_csv, usage_months, usage_pages
from billing.rules import charge_parts
from billing.rules.usage_lines import Line, Named, lines
from billing.rules.usage_reports import MemberUse, UsageReport, Use
from billing.serializers.receipts import sign_receipt
from gateway.core.contract.errors import NotSettled
from gateway.core.contract.route_limits import REPORTS
from gateway.core.http.rate_limits import note
from gateway.core.portal.csv_files import csv_response, name_part

TAB = "portal_usage"
NO_PRODUCT, THIS_APP = "No product", "this app"


@personal("GET")
def index(request: HttpRequest) -> HttpResponse:
    """Show a month: its totals, its use by day, product, app and model, and its calls, or those of the app `?app=`."""
    owner, now = owner_of(request), timezone.now()
    note(request, limits.take(REPORTS, person(request).did, now=now))
    choice = usage_months.choose(owner, request.GET.get("month"), now)
    if choice.month is None:
        return show(request, TAB, "usage", status=404, choice=choice)
    used, app = usage_pages.of_month(owner, choice.month, now), request.GET.get("app") or None
    context = {
        "choice": choice,
        "used": used,
        "product_lines": _product_lines(used.members),
        "calls": usage_calls.page_of(owner, choice.month, request.GET.get("after"), client_id=app),
        "app": app and _app(app, used.app_lines),
        "is_first_page": "after" not in request.GET,
    }
    return show(request, TAB, "usage", **context)


@personal("GET")
def export(request: HttpRequest) -> StreamingHttpResponse:
    """Return every call of a month as a CSV file."""
    owner, who, now = owner_of(request), person(request), timezone.now()
    note(request, limits.take(REPORTS, who.did, now=now))
    choice = usage_months.choose(owner, request.GET.get("month"), now)
    if choice.month is None:
        raise Http404
    name = f"usage-{name_part(who.display_name or who.did, 'account')}-{choice.name}"
    return csv_response(name, usage_csv.HEADER, usage_csv.rows(owner, choice.month))


@personal("GET")
def call(request: HttpRequest, usage_id: str) -> HttpResponse:
    """Show one call: its cost, the components of it, and why the call ended as it did."""
    found = _own(request, usage_id)
    context = {
        "call": found,
        "parts": charge_parts.parts(charges.components(found)),
        "credits": charges.by_lot(found.pk),
        "app": found.client_id and app_names.of([found.client_id])[found.client_id],
        "seal": seals.covering(found),
    }
    return show(request, TAB, "call", **context)


@personal("GET")
def receipt(request: HttpRequest, usage_id: str) -> HttpResponse:
    """Return the signed receipt of a settled call as a file."""
    found = _own(request, usage_id)
    try:
        signed = sign_receipt(found, owner_of(request), now=timezone.now())
    except NotSettled:
        raise Http404 from None
    disposition = content_disposition_header(as_attachment=True, filename=f"receipt-{found.pk}.jwt") or "attachment"
    return HttpResponse(signed, content_type="application/jwt", headers={"Content-Disposition": disposition})


def _app(client_id: str, apps: list[Line]) -> Named:
    """Return the app that the page's calls are restricted to. Only a name that the page shows anyway is shown."""
    name = next((line.name for line in apps if line.key == client_id), THIS_APP)
    return Named(client_id, name, Use())


def _own(request: HttpRequest, usage_id: str) -> Call:
    found = usage_calls.one(owner_of(request), usage_id)
    if found is None:
        raise Http404
    return found


def _product_lines(report: UsageReport[MemberUse]) -> list[Line]:
    names = dict(Product.objects.values_list("slug", "name"))
    named = (
        Named(row.product or "", names.get(row.product or "", row.product or NO_PRODUCT), row.use)
        for row in report.rows
    )
    return lines(named)
