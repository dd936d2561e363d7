"""Set the automatic top-up of an organization's wallet, and remove its payment method."""

from billing.operations import auto_top_ups, payment_methods
from billing.queries import auto_top_ups as queries
from billing.queries.auto_top_ups import Terms
from organizations.operations.changes import changing
from organizations.rules.roles import MONEY_MANAGERS


def put(*, org_id: str, terms: Terms, actor_did: str) -> None:
    """Set the terms. Raises RateLimited as `billing.operations.auto_top_ups.put` does."""
    owner = ("organization", org_id)
    with changing(org_id, actor_did=actor_did, roles=MONEY_MANAGERS) as change:
        before = queries.view(owner, change.now).terms
        auto_top_ups.put(owner, terms, requested_by=actor_did, now=change.now)
        if before == terms:
            return
        if not terms.is_enabled:
            change.record("auto_top_up.off", org_id)
            return
        change.record(
            "auto_top_up.set",
            org_id,
            thresholdMicrousd=terms.threshold_microusd,
            amountMicrousd=terms.amount_microusd,
            limitMicrousd=terms.monthly_limit_microusd,
        )


def turn_off(*, org_id: str, actor_did: str) -> None:
    """Turn automatic top-up off. Repeating changes nothing."""
    owner = ("organization", org_id)
    with changing(org_id, actor_did=actor_did, roles=MONEY_MANAGERS) as change:
        if queries.view(owner, change.now).terms.is_enabled:
            auto_top_ups.disable(owner, now=change.now)
            change.record("auto_top_up.off", org_id)


def remove_method(*, org_id: str, actor_did: str) -> bool:
    """Remove the saved payment methods; return False if none is saved."""
    with changing(org_id, actor_did=actor_did, roles=MONEY_MANAGERS) as change:
        if not payment_methods.remove(("organization", org_id), removed_by=actor_did, now=change.now):
            return False
        change.record("payment_method.remove", org_id)
    return True
