"""Sets the threshold of an organization's alerts."""

from billing.operations import alerts
from organizations.operations.changes import changing
from organizations.rules.roles import MONEY_MANAGERS


def set_threshold(*, org_id: str, amount_microusd: int, actor_did: str) -> None:
    """Set the worth of the wallet below which owners and billing members are told, 0 for never. Setting the same again changes
    nothing."""
    with changing(org_id, actor_did=actor_did, roles=MONEY_MANAGERS) as change:
        before = alerts.set_threshold(("organization", org_id), amount_microusd=amount_microusd)
        if before != amount_microusd:
            change.record("alerts.threshold", org_id, beforeMicrousd=before, afterMicrousd=amount_microusd)
