"""What a customer has, holds and spends: credits, open calls, latest calls, budgets and limits."""

from datetime import datetime

from django.db.models import F, Q
from django.http import HttpRequest

from billing.models import Budget, Call, CallState, CreditLot, Limit
from billing.queries import budgets, usage, wallets
from gateway.core.contract.amounts import usd
from gateway.customers.customer import Customer, may
from gateway.customers.section import ROWS, Cell, Part, Section, dialog_link, joined, label, link, list_of, when

COLOURS: dict[str, str] = {
    CallState.HELD: "info",
    CallState.REVIEW: "warning",
    CallState.SETTLED: "success",
    CallState.RELEASED: "danger",
}


def cards(customer: Customer, now: datetime) -> list[tuple[str, str, str]]:
    """Return the title, the amount and a note of each sum of the wallet."""
    view = wallets.view(customer.owner, now)
    return [
        ("Available", usd(view.available_microusd), "nothing while there is a debt" if view.debt_microusd else ""),
        ("Balance", usd(view.balance_microusd), f"and {usd(view.credits_microusd)} in credits"),
        ("Held", usd(view.held_microusd), "by open calls"),
        ("Debt", usd(view.debt_microusd), "blocks spending" if view.debt_microusd else ""),
    ]


def credits_left(request: HttpRequest, customer: Customer, now: datetime) -> Section:
    """Return the open credits, in the order in which they are spent."""
    found = CreditLot.objects.filter(wallet=customer.wallet, closed_at=None).order_by("expires_at", "id")[:ROWS]
    rows = [
        (
            link("billing_creditlot_change", lot.pk, lot.pk),
            lot.product or "any product",
            usd(lot.granted_microusd),
            usd(lot.remaining_microusd),
            usd(lot.held_microusd),
            when(lot.expires_at) or "never",
        )
        for lot in found
    ]
    headers = ("Credit", "Product", "Granted", "Remaining", "Held", "Expires")
    return Section("Credits", headers, rows, "There is no open credit.", [list_of("billing_creditlot", customer)])


def open_calls(request: HttpRequest, customer: Customer, now: datetime) -> Section:
    """Return the oldest open calls, those in review included, with what they hold."""
    rows = [
        (_call(call), call.model, usd(call.hold_microusd), _state(call), when(call.created_at))
        for call in usage.open_calls(customer.owner).order_by("created_at", "id")[:ROWS]
    ]
    headers = ("Call", "Model", "Held", "State", "Since")
    return Section("Open holds", headers, rows, "No call is open.", [list_of("billing_call", customer)])


def latest_calls(request: HttpRequest, customer: Customer, now: datetime) -> Section:
    """Return the newest calls; one that failed is marked, with its cause."""
    rows = [
        (_call(call), call.model, _outcome(call), usd(call.charge_microusd), when(call.created_at))
        for call in usage.newest(customer.owner, ROWS)
    ]
    headers = ("Call", "Model", "State", "Charge", "Began")
    links = [list_of("billing_call", customer), ("Usage", list_of("billing_usagerecord", customer)[1])]
    return Section("Calls", headers, rows, "There has been no call.", links)


def budgets_of(request: HttpRequest, customer: Customer, now: datetime) -> Section:
    """Return the budgets that are on, the fullest first, each with the dialog that raises it."""
    found = Budget.objects.filter(wallet=customer.wallet, disabled_at=None).order_by("-created_at", "-id")[:ROWS]
    may_raise = may(request, Budget, "raise")
    rows = [
        (
            link("billing_budget_change", _subject(budget), budget.pk),
            budget.period,
            usd(budget.limit_at(now)),
            usd(budget.spent_at(now)),
            usd(budget.held_microusd),
            f"{budgets.bar_of(budget, now).used_percent} %",
            dialog_link("billing_budget_raise_limit", "Raise", budget.pk) if may_raise else "",
        )
        for budget in found
    ]
    headers = ("Budget", "Period", "Limit", "Spent", "Held", "Used", "Action")
    return Section("Budgets", headers, rows, "No budget is on.", [list_of("billing_budget", customer)])


def limits_of(request: HttpRequest, customer: Customer, now: datetime) -> Section:
    """Return the rate limit in force, whether it is the customer's own or everybody's."""
    rows_of_scope = Limit.objects.filter(Q(subject=customer.key) | Q(subject=None), scope=customer.kind)
    limit = rows_of_scope.order_by(F("subject").asc(nulls_last=True)).first()
    headers = ("Limit", "Requests a minute", "Tokens a minute", "Calls at once")
    links = [list_of("billing_limit", customer)]
    if limit is None:
        return Section("Limits", headers, [], "There is no rate limit.", links)
    numbers = (limit.requests_per_minute, limit.tokens_per_minute, limit.concurrent)
    whose = link("billing_limit_change", "its own" if limit.subject else f"every {customer.kind}'s", limit.pk)
    rows = [(whose, *("no limit" if number is None else f"{number:,}" for number in numbers))]
    return Section("Limits", headers, rows, "", links)


PARTS = (
    Part(CreditLot, credits_left),
    Part(Call, open_calls),
    Part(Budget, budgets_of),
    Part(Limit, limits_of),
    Part(Call, latest_calls),
)


def _call(call: Call) -> str:
    return link("billing_call_change", call.pk, call.pk)


def _state(call: Call) -> str:
    is_failed = call.state == CallState.RELEASED
    return label("failed" if is_failed else CallState(call.state).label, COLOURS[CallState(call.state)])


def _outcome(call: Call) -> Cell:
    """Return the state, and for a call that failed or is in review its cause."""
    causes = {CallState.RELEASED: call.resolution, CallState.REVIEW: call.review_reason}
    return joined((_state(call), causes.get(CallState(call.state)) or ""))


def _subject(budget: Budget) -> str:
    return ", ".join(filter(None, (budget.product, budget.membership_id, budget.client_id))) or "everything"
