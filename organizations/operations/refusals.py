"""Refuses an organization's token whose live access has ended."""

from gateway.core.api.challenges import challenged
from gateway.core.contract.errors import ApiError, InvalidToken
from organizations.rules.access import SUSPENDED, denial, suspended


def refusal(reason: str, org_id: str) -> ApiError:
    """Return the error for an organization's token. One of a suspended organization is refused like one of a suspended account (401)."""
    if reason == SUSPENDED:
        details = {"orgId": org_id, "reason": SUSPENDED}
        return challenged(InvalidToken(suspended(org_id), details=details, private=SUSPENDED))
    return denial(reason, org_id)
