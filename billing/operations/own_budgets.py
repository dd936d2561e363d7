"""Sets and turns off a person's own budgets: in total, and for each app."""

from datetime import datetime

from accounts.operations.app_budgets import AppBudget
from billing.models import Budget
from billing.operations import budgets
from billing.queries import budgets as queries
from billing.rules.budgets import BudgetPeriod, Subject
from gateway.core.contract.errors import InvalidRequest
from gateway.core.contract.limits import OWN_BUDGETS_MAX


def put(*, did: str, client_id: str | None, limit_microusd: int, period: BudgetPeriod) -> Budget:
    """Set a budget of the person's calls, or of those that an app makes for them, and turn it on.

    Amounts spent and held in the period remain counted. Raises InvalidRequest if the person has too many budgets; of several
    requests at once, each may add one more.
    """
    subject = Subject(("account", did), client_id=client_id)
    is_new = not queries.of_subject(subject).filter(period=period).exists()
    if is_new and queries.of_owner(subject.owner).count() >= OWN_BUDGETS_MAX:
        raise InvalidRequest(f"You have {OWN_BUDGETS_MAX} budgets, which is the limit. Set one for all apps instead.")
    return budgets.put(subject, limit_microusd=limit_microusd, period=period)


def put_monthly(*, did: str, client_id: str, limit_microusd: int) -> Budget:
    """Set the monthly budget of an app, as `put` does."""
    return put(did=did, client_id=client_id, limit_microusd=limit_microusd, period=BudgetPeriod.MONTH)


def disable(*, did: str, budget_id: str, now: datetime) -> bool:
    """Turn off one of the person's own budgets. Return False if there is no such budget. Repeating changes nothing."""
    return budgets.disable(("account", did), budget_id, now=now) is not None


def of_app(did: str, client_id: str, now: datetime) -> list[AppBudget]:
    """List the budgets of an app that are on, the longest period first."""
    found = queries.of_subject(Subject(("account", did), client_id=client_id)).filter(disabled_at=None)
    ordered = sorted(found, key=lambda budget: list(BudgetPeriod).index(BudgetPeriod(budget.period)), reverse=True)
    return [
        AppBudget(budget.period, budget.limit_at(now), budget.spent_at(now) + budget.held_microusd)
        for budget in ordered
    ]
