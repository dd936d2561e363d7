"""Sets and disables an organization's budgets. SPEC: States and transitions, Budget."""

from datetime import datetime

from accounts.models import Product
from billing.models import Budget
from billing.operations import budgets
from billing.operations.budgets import KEEP, NewOverride
from billing.queries import budgets as queries
from billing.rules.budgets import BudgetPeriod, Subject
from gateway.core.api.times import rfc3339
from gateway.core.contract.errors import NotFound
from organizations.operations.changes import Change, changing
from organizations.queries import memberships
from organizations.rules.roles import MONEY_MANAGERS


def put(
    *,
    org_id: str,
    limit_microusd: int,
    product: str | None = None,
    membership_id: str | None = None,
    period: BudgetPeriod = BudgetPeriod.MONTH,
    override: NewOverride = KEEP,
    actor_did: str,
) -> Budget:
    """Set the limit and the override of a subject's budget for this kind of period, and enable it if it was disabled.
    Setting the same again changes nothing.

    Amounts spent and held in the period remain counted. Raises NotFound for a product outside the catalogue or a
    membership that is not active here, and InvalidRequest for an override that has ended.
    """
    subject = Subject(("organization", org_id), product, membership_id)
    with changing(org_id, actor_did=actor_did, roles=MONEY_MANAGERS) as change:
        if product is not None and not Product.objects.filter(slug=product).exists():
            raise NotFound(param="product")
        if membership_id is not None:
            memberships.active_in(org_id, membership_id, param="membershipId")
        before = queries.of_subject(subject).filter(period=period).first()
        budget = budgets.put(subject, limit_microusd=limit_microusd, period=period, override=override)
        _record(change, before, budget)
    return budget


def end_override(*, org_id: str, budget_id: str, actor_did: str) -> Budget:
    """End a budget's override. Repeating changes nothing."""
    with changing(org_id, actor_did=actor_did, roles=MONEY_MANAGERS) as change:
        before = queries.of_owner(("organization", org_id)).filter(pk=budget_id).first()
        budget = budgets.end_override(("organization", org_id), budget_id)
        if before is None or budget is None:
            raise NotFound
        _record(change, before, budget)
    return budget


def disable(*, org_id: str, budget_id: str, actor_did: str) -> Budget:
    """Stop a budget from refusing calls. Its holds remain. Repeating changes nothing."""
    with changing(org_id, actor_did=actor_did, roles=MONEY_MANAGERS) as change:
        budget = budgets.disable(("organization", org_id), budget_id, now=change.now)
        if budget is None:
            raise NotFound
        if budget.disabled_at == change.now:
            change.record("budget.disable", budget.id, scope=budget.scope, period=budget.period)
    return budget


def _record(change: Change, before: Budget | None, after: Budget) -> None:
    """Record what is different: the limit, or which other limit is in force until when."""
    terms = {"scope": after.scope, "period": after.period}
    if before is None or before.disabled_at != after.disabled_at or before.limit_microusd != after.limit_microusd:
        change.record("budget.set", after.id, limitMicrousd=after.limit_microusd, **terms)
    until = after.override_at(change.now)
    if _override(before, change.now) == _override(after, change.now):
        return
    if until is None:
        change.record("budget.end_override", after.id, **terms)
    else:
        limit = after.limit_at(change.now)
        change.record("budget.override", after.id, limitMicrousd=limit, until=rfc3339(until), **terms)


def _override(budget: Budget | None, now: datetime) -> tuple[int, datetime] | None:
    until = budget and budget.override_at(now)
    return (budget.limit_at(now), until) if budget and until else None
