"""A person's apps: what each may do, where it is signed in, what it spends, and the budgets for them."""

from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import NamedTuple

from django.contrib import messages
from django.core.paginator import Paginator
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone

from accounts.operations import apps as operations
from accounts.queries import app_names
from accounts.queries import apps as queries
from accounts.queries.accounts import person
from accounts.queries.apps import App
from billing.models import Budget
from billing.operations import own_budgets
from billing.portal.forms import OwnBudgetForm
from billing.portal.pages import owner_of, personal
from billing.queries import budgets, usage_reports
from billing.rules import bars
from billing.rules.budgets import BudgetPeriod
from billing.rules.months import month_around
from gateway.core.contract.amounts import decimals_of
from gateway.core.contract.errors import InvalidRequest
from gateway.core.contract.limits import DEVICE_SESSIONS_MAX

ROWS = 50


class Row(NamedTuple):
    """A budget for display. Amounts are in micro-USD. `app` and `name` are empty for everything."""

    id: str
    app: str
    name: str
    period: str
    limit: int
    spent: int
    held: int
    is_on: bool

    @property
    def bar(self) -> bars.Bar:
        """Return the used percentage of the limit."""
        return bars.of_limit(self.limit, self.spent, self.held)


class Card(NamedTuple):
    """An app for display, with what it has spent this month, in micro-USD, and its budgets that are on."""

    app: App
    spent: int
    budgets: list[Row]


@personal("GET", "POST")
def index(request: HttpRequest) -> HttpResponse:
    """List the person's apps and budgets. A form sets a budget, `?app=` selects for which app."""
    found = queries.of_person(person(request), timezone.now())
    own = list(budgets.of_owner(owner_of(request)))
    clients = dict.fromkeys([*(app.client_id for app in found), *(one.client_id for one in own if one.client_id)])
    names = app_names.of(clients)
    rows = [_row(budget, names) for budget in own]
    form = OwnBudgetForm(
        request.POST if request.method == "POST" else None,
        apps=list(names.items()),
        initial={"app": request.GET.get("app")},
    )
    if form.is_valid() and _is_put(request, form):
        return redirect("portal_apps")
    return _page(request, found, rows, form)


@personal("POST")
def revoke(request: HttpRequest) -> HttpResponse:
    """End all that the person has allowed the app of the form's `client_id`. Its budgets stay."""
    if operations.revoke(account=person(request), client_id=request.POST.get("client_id", ""), now=timezone.now()):
        messages.success(request, "The app was signed out and can do nothing for you any more. Its budgets stay.")
    return redirect("portal_apps")


@personal("POST")
def disable(request: HttpRequest, budget_id: str) -> HttpResponse:
    """Turn off one of the person's own budgets. It can be set again."""
    if own_budgets.disable(did=person(request).did, budget_id=budget_id, now=timezone.now()):
        text = "The budget was turned off. If you set it again, it continues from the amount already counted."
        messages.success(request, text)
    return redirect("portal_apps")


def _is_put(request: HttpRequest, form: OwnBudgetForm) -> bool:
    """Set the budget. Return whether it could be set; otherwise the form says why not."""
    terms = form.cleaned_data
    try:
        own_budgets.put(
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
    now = timezone.now()
    page = Paginator(found, ROWS).get_page(request.GET.get("page"))
    context = {
        "page": page,
        "cards": _cards(request, page.object_list, rows, now) if page.object_list else [],
        "now": now,
        "devices_max": DEVICE_SESSIONS_MAX,
        "rows": rows,
        "places": decimals_of(amount for row in rows for amount in (row.spent, row.held, row.limit)),
        "form": form,
    }
    return render(request, "billing/apps.html", context, status=400 if form.is_bound else 200)


def _cards(request: HttpRequest, found: Iterable[App], rows: list[Row], now: datetime) -> list[Card]:
    report = usage_reports.by_app(owner_of(request), month_around(now))
    spent = {row.client_id: row.use.charged_microusd for row in report.rows}
    return [
        Card(app, spent.get(app.client_id, 0), [row for row in rows if row.is_on and row.app == app.client_id])
        for app in found
    ]


def _row(budget: Budget, names: Mapping[str, str]) -> Row:
    now = timezone.now()
    return Row(
        id=budget.pk,
        app=budget.client_id or "",
        name=names.get(budget.client_id or "", ""),
        period=budget.period,
        limit=budget.limit_at(now),
        spent=budget.spent_at(now),
        held=budget.held_microusd,
        is_on=budget.disabled_at is None,
    )
