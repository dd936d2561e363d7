"""Sets and disables an organization's budgets. SPEC: States and transitions, Budget."""

from accounts.models import Product
from billing.models import Budget
from billing.operations import budgets
from billing.queries import budgets as queries
from gateway.core.contract.errors import NotFound
from organizations.operations.changes import changing
from organizations.queries import memberships
from organizations.rules.roles import MONEY_MANAGERS


def put(*, org_id: str, limit_microusd: int, product: str | None, membership_id: str | None, actor_did: str) -> Budget:
    """Set the limit of a subject's budget, and enable it if it was disabled. Setting the same limit again changes
    nothing.

    Amounts spent and held this month remain counted. Raises NotFound for a product outside the catalogue or a
    membership that is not active here.
    """
    with changing(org_id, actor_did=actor_did, roles=MONEY_MANAGERS) as change:
        if product is not None and not Product.objects.filter(slug=product).exists():
            raise NotFound(param="product")
        if membership_id is not None:
            memberships.active_in(org_id, membership_id, param="membershipId")
        before = queries.of_organization(org_id).filter(product=product, membership_id=membership_id).first()
        budget = budgets.put(org_id, limit_microusd=limit_microusd, product=product, membership_id=membership_id)
        if before is None or before.disabled_at or before.limit_microusd != limit_microusd:
            change.record("budget.set", budget.id, scope=budget.scope, limitMicrousd=limit_microusd)
    return budget


def disable(*, org_id: str, budget_id: str, actor_did: str) -> Budget:
    """Stop a budget from refusing calls. Its holds remain. Repeating changes nothing."""
    with changing(org_id, actor_did=actor_did, roles=MONEY_MANAGERS) as change:
        budget = budgets.disable(org_id, budget_id, now=change.now)
        if budget is None:
            raise NotFound
        if budget.disabled_at == change.now:
            change.record("budget.disable", budget.id, scope=budget.scope)
    return budget
