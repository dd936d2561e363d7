"""Pages for budgets: list, set, end another limit, turn off."""

from datetime import datetime
from typing import NamedTuple

from django.http import HttpRequest, HttpResponse, QueryDict
from django.utils import timezone
from django.views.decorators.http import require_http_methods, require_POST

from accounts.queries.accounts import person
from billing.models import Budget
from billing.queries import budgets
from billing.rules import bars
from billing.rules.budgets import BudgetPeriod
from gateway.core.contract.amounts import decimals_of
from organizations.models import Membership
from organizations.operations import budgets as operations
from organizations.portal.budget_form import BudgetForm
from organizations.portal.pages import back_to, member_page, name_of, product_choices, report_outcome, show
from organizations.queries import memberships
from organizations.rules.roles import MONEY_MANAGERS

TAB = "organization_budgets"
MEMBERS_OFFERED = 500


class Row(NamedTuple):
    """A budget for display. Amounts are in micro-USD. `what` is empty for the whole organization. `limit` is in force now:
    the budget's own one, or another until `until`, if that is not None.
    """

    id: str
    what: str
    period: str
    limit: int
    own_limit: int
    until: datetime | None
    spent: int
    held: int
    is_on: bool

    @property
    def bar(self) -> bars.Bar:
        """Return the used percentage of the limit."""
        return bars.of_limit(self.limit, self.spent, self.held)


@require_http_methods(["GET", "POST"])
@member_page(*MONEY_MANAGERS)
def index(request: HttpRequest, membership: Membership) -> HttpResponse:
    """List the budgets. A form sets one."""
    form = _form(membership, request.POST if request.method == "POST" else None)
    if not form.is_valid():
        return _page(request, membership, form, 400 if form.is_bound else 200)
    period = form.cleaned_data["period"]
    with report_outcome(
        request, f"The budget was set. Money that was already spent this {period} counts toward it."
    ) as outcome:
        _put(membership, form, person(request).did)
    return _page(request, membership, form, outcome.error.status) if outcome.error else back_to(TAB, membership)


@require_POST
@member_page(*MONEY_MANAGERS)
def end_override(request: HttpRequest, membership: Membership, budget_id: str) -> HttpResponse:
    """End the other limit, so that the budget's own one is in force."""
    with report_outcome(request, "The other limit has ended."):
        operations.end_override(org_id=membership.organization_id, budget_id=budget_id, actor_did=person(request).did)
    return back_to(TAB, membership)


@require_POST
@member_page(*MONEY_MANAGERS)
def disable(request: HttpRequest, membership: Membership, budget_id: str) -> HttpResponse:
    """Turn a budget off. It can be set again."""
    with report_outcome(
        request, "The budget was turned off. If you set it again, it continues from the amount already counted."
    ):
        operations.disable(org_id=membership.organization_id, budget_id=budget_id, actor_did=person(request).did)
    return back_to(TAB, membership)


def _form(membership: Membership, data: QueryDict | None) -> BudgetForm:
    org_id = membership.organization_id
    people = memberships.every(org_id).filter(removed_at__isnull=True)[:MEMBERS_OFFERED]
    members = [(member.pk, name_of(member.account)) for member in people]
    return BudgetForm(data, products=product_choices(org_id), members=members)


def _put(membership: Membership, form: BudgetForm, actor_did: str) -> None:
    operations.put(
        org_id=membership.organization_id,
        limit_microusd=form.cleaned_data["limit"],
        product=form.cleaned_data["product"] or None,
        membership_id=form.cleaned_data["member"] or None,
        period=BudgetPeriod(form.cleaned_data["period"]),
        override=form.override,
        actor_did=actor_did,
    )


def _page(request: HttpRequest, membership: Membership, form: BudgetForm, status: int) -> HttpResponse:
    names, now = dict(form.products) | dict(form.members), timezone.now()
    rows = [_row(one, names, now) for one in budgets.of_owner(("organization", membership.organization_id))]
    places = decimals_of(amount for row in rows for amount in (row.spent, row.held, row.limit))
    return show(request, membership, TAB, status=status, form=form, rows=rows, places=places)


def _row(budget: Budget, names: dict[str, str], now: datetime) -> Row:
    return Row(
        id=budget.pk,
        what=", ".join(names.get(part, part) for part in (budget.product, budget.membership_id) if part),
        period=budget.period,
        limit=budget.limit_at(now),
        own_limit=budget.limit_microusd,
        until=budget.override_at(now),
        spent=budget.spent_at(now),
        held=budget.held_microusd,
        is_on=budget.disabled_at is None,
    )
