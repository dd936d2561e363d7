"""A person's apps: what each may do, and the budgets for them."""

from typing import NamedTuple

from django.contrib import messages
from django.core.paginator import Paginator
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone

from accounts.queries import apps as queries
from accounts.queries.accounts import person
from accounts.queries.apps import App
from billing.models import Budget
from billing.operations import own_budgets as operations
from billing.portal.forms import OwnBudgetForm
from billing.portal.pages import owner_of, personal
from billing.queries import budgets
from billing.rules import bars
from billing.rules.budgets import BudgetPeriod
from gateway.core.contract.amounts import decimals_of
from gateway.core.contract.errors import InvalidRequest

ROWS = 50


class Row(NamedTuple):
    """A budget for display. Amounts are in micro-USD. `app` is empty for everything."""

    id: str
    app: str
    period: str
    limit: int
    spent: int
    held: int
    is_on: bool

    @property
    def bar(self) -> bars.Bar:
        """Return the used percentage of the limit."""
        return bars.of_limit(self.limit, self.spent, self.held)


@personal("GET", "POST")
def index(request: HttpRequest) -> HttpResponse:
    """List the person's apps and budgets. A form sets a budget."""
    found = queries.of_person(person(request), timezone.now())
    rows = [_row(budget) for budget in budgets.of_owner(owner_of(request))]
    clients = dict.fromkeys([*(app.client_id for app in found), *(row.app for row in rows if row.app)])
    form = OwnBudgetForm(request.POST if request.method == "POST" else None, apps=[(one, one) for one in clients])
    if form.is_valid() and _is_put(request, form):
        return redirect("portal_apps")
    return _page(request, found, rows, form)


@personal("POST")
def disable(request: HttpRequest, budget_id: str) -> HttpResponse:
    """Turn off one of the person's own budgets. It can be set again."""
    if operations.disable(did=person(request).did, budget_id=budget_id, now=timezone.now()):
        text = "The budget was turned off. If you set it again, it continues from the amount already counted."
        messages.success(request, text)
    return redirect("portal_apps")


def _is_put(request: HttpRequest, form: OwnBudgetForm) -> bool:
    """Set the budget. Return whether it could be set; otherwise the form says why not."""
    terms = form.cleaned_data
    try:
        operations.put(
            did=person(request).did,
            client_id=terms["app"] or None,
            limit_microusd=terms["limit"],
            period=BudgetPeriod(terms["period"]),
        )
    except InvalidRequest as error:
        form.add_error("app", error.message)
        return False
    text = f"The budget was set. Money that was already spent this {terms['period']} counts toward it."
    messages.success(request, text)
    return True


def _page(request: HttpRequest, found: list[App], rows: list[Row], form: OwnBudgetForm) -> HttpResponse:
    context = {
        "page": Paginator(found, ROWS).get_page(request.GET.get("page")),
        "rows": rows,
        "places": decimals_of(amount for row in rows for amount in (row.spent, row.held, row.limit)),
        "form": form,
    }
    return render(request, "billing/apps.html", context, status=400 if form.is_bound else 200)


def _row(budget: Budget) -> Row:
    now = timezone.now()
    return Row(
        id=budget.pk,
        app=budget.client_id or "",
        period=budget.period,
        limit=budget.limit_at(now),
        spent=budget.spent_at(now),
        held=budget.held_microusd,
        is_on=budget.disabled_at is None,
    )
