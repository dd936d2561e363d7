"""Money: wallet, this month's use and seats, and budgets."""

from django.http import HttpRequest, HttpResponse
from django.utils import timezone
from django.views.decorators.http import require_http_methods, require_POST

from billing.rules.budgets import spent_microusd
from gateway.contract.errors import OrgReportLimit
from organizations.models import Membership
from organizations.operations import budgets as operations
from organizations.portal import words
from organizations.portal.forms import BudgetForm
from organizations.portal.pages import back_to, member_page, name_of, person, show, told
from organizations.queries import billing, entitlements, memberships, usage
from organizations.queries.billing import BillingView
from organizations.queries.seat_estimate import ProductEstimate
from organizations.rules.roles import MONEY_MANAGERS

TAB = "organization_money"
MEMBERS_OFFERED = 500


@require_http_methods(["GET", "POST"])
@member_page(*MONEY_MANAGERS)
def index(request: HttpRequest, membership: Membership) -> HttpResponse:
    """Show the organization's money, and set a budget."""
    org_id = membership.organization_id
    people = _people(org_id)
    products = _products(org_id)
    form = BudgetForm(request.POST or None, products=products, members=_choices(people))
    if request.method == "POST" and form.is_valid():
        return _set_budget(request, membership, form)
    now = timezone.now()
    try:
        found, month = billing.view(membership.organization, now), usage.summary(org_id, previous=False, now=now)
    except OrgReportLimit as error:
        return show(request, membership, TAB, too_much=words.of_error(error))
    names = dict(products) | dict(_choices(people))
    rows = {"budgets": _budget_rows(found, names), "seats": _seat_rows(found, names)}
    response = show(request, membership, TAB, form=form, found=found, month=month, **rows)
    response.status_code = 400 if form.is_bound else 200
    return response


@require_POST
@member_page(*MONEY_MANAGERS)
def disable_budget(request: HttpRequest, membership: Membership, budget_id: str) -> HttpResponse:
    """Switch a budget off; it can be set again."""
    with told(request, "The budget is off. Setting it again goes on counting where it was."):
        operations.disable(org_id=membership.organization_id, budget_id=budget_id, actor_did=person(request).did)
    return back_to(TAB, membership)


def _set_budget(request: HttpRequest, membership: Membership, form: BudgetForm) -> HttpResponse:
    with told(request, "The budget is set. It counts what this month has spent already."):
        operations.put(
            org_id=membership.organization_id,
            limit_microusd=form.limit_microusd,
            product=form.cleaned_data["product"] or None,
            membership_id=form.cleaned_data["member"] or None,
            actor_did=person(request).did,
        )
    return back_to(TAB, membership)


def _budget_rows(found: BillingView, names: dict[str, str]) -> list[dict[str, object]]:
    now = timezone.now()
    return [
        {
            "id": budget.pk,
            "what": ", ".join(names.get(part, part) for part in (budget.product, budget.membership_id) if part),
            "limit": budget.limit_microusd,
            "spent": spent_microusd(budget.spent_microusd, budget.period_start, now),
            "held": budget.held_microusd,
            "is_on": budget.disabled_at is None,
        }
        for budget in found.budgets
    ]


def _seat_rows(found: BillingView, names: dict[str, str]) -> list[tuple[str, ProductEstimate]]:
    return [(names.get(one.product, one.product), one) for one in found.seats.products]


def _people(org_id: str) -> list[Membership]:
    return list(memberships.every(org_id).filter(removed_at__isnull=True)[:MEMBERS_OFFERED])


def _choices(people: list[Membership]) -> list[tuple[str, str]]:
    return [(member.pk, name_of(member.account)) for member in people]


def _products(org_id: str) -> list[tuple[str, str]]:
    found = entitlements.with_counts().filter(organization=org_id).select_related("product")
    return [(one.product_id, one.product.name) for one in found]
