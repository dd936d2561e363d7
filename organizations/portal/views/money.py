"""Money: wallet, this month's use and seats, and budgets."""

from django.http import HttpRequest, HttpResponse, QueryDict
from django.utils import timezone
from django.views.decorators.http import require_http_methods, require_POST

from billing.queries import checkouts, payment_pages
from billing.rules.budgets import spent_microusd
from gateway.core.contract.errors import OrgReportLimit
from gateway.core.forms import OnceForm
from organizations.models import Membership
from organizations.operations import budgets as operations
from organizations.portal import words
from organizations.portal.forms import BudgetForm, TopUpForm
from organizations.portal.pages import back_to, member_page, name_of, person, show, told
from organizations.queries import billing, entitlements, memberships, usage
from organizations.queries.billing import OrganizationBilling
from organizations.queries.seat_estimate import ProductEstimate
from organizations.rules.roles import MONEY_MANAGERS

TAB = "organization_money"
MEMBERS_OFFERED = 500


@require_http_methods(["GET", "POST"])
@member_page(*MONEY_MANAGERS)
def index(request: HttpRequest, membership: Membership) -> HttpResponse:
    """Show the organization's money, and set a budget."""
    if request.method == "GET":
        return page(request, membership)
    form = _budget_form(membership, request.POST)
    return _set_budget(request, membership, form) if form.is_valid() else page(request, membership, budget=form)


def page(
    request: HttpRequest,
    membership: Membership,
    *,
    budget: BudgetForm | None = None,
    top_up: TopUpForm | None = None,
    status: int = 400,
) -> HttpResponse:
    """Render all of it; a form that is given was refused, and says why with this status."""
    org_id, now = membership.organization_id, timezone.now()
    try:
        found, month = billing.view(membership.organization, now), usage.summary(org_id, previous=False, now=now)
    except OrgReportLimit as error:
        return show(request, membership, TAB, too_much=words.of_error(error))
    products = product_choices(org_id)
    names = dict(products) | dict(_choices(_people(org_id)))
    rows = {"budgets": _budget_rows(found, names), "seats": _seat_rows(found, names)}
    paying = {
        "can_pay": payment_pages.are_configured(),
        "is_test": payment_pages.mode() == "test",
        "top_up": (top_up or TopUpForm()).for_products(products),
        "keep_method": OnceForm(auto_id="id_keep_%s"),
        "payments": checkouts.newest_of(("organization", org_id)),
    }
    form = budget or _budget_form(membership)
    response = show(request, membership, TAB, form=form, found=found, month=month, **rows, **paying)
    response.status_code = status if budget or top_up else 200
    response.form_targets = payment_pages.origins()  # type: ignore[attr-defined]
    return response


@require_POST
@member_page(*MONEY_MANAGERS)
def disable_budget(request: HttpRequest, membership: Membership, budget_id: str) -> HttpResponse:
    """Switch a budget off; it can be set again."""
    with told(request, "The budget is off. Setting it again goes on counting where it was."):
        operations.disable(org_id=membership.organization_id, budget_id=budget_id, actor_did=person(request).did)
    return back_to(TAB, membership)


def product_choices(org_id: str) -> list[tuple[str, str]]:
    """List the products that the organization has or had, for a form."""
    found = entitlements.with_counts().filter(organization=org_id).select_related("product")
    return [(one.product_id, one.product.name) for one in found]


def _budget_form(membership: Membership, data: QueryDict | None = None) -> BudgetForm:
    org_id = membership.organization_id
    return BudgetForm(data, products=product_choices(org_id), members=_choices(_people(org_id)))


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


def _budget_rows(found: OrganizationBilling, names: dict[str, str]) -> list[dict[str, object]]:
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


def _seat_rows(found: OrganizationBilling, names: dict[str, str]) -> list[tuple[str, ProductEstimate]]:
    return [(names.get(one.product, one.product), one) for one in found.seats.products]


def _people(org_id: str) -> list[Membership]:
    return list(memberships.every(org_id).filter(removed_at__isnull=True)[:MEMBERS_OFFERED])


def _choices(people: list[Membership]) -> list[tuple[str, str]]:
    return [(member.pk, name_of(member.account)) for member in people]
