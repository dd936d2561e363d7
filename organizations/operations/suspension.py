"""Suspends organizations and lifts suspensions. A suspended organization's tokens are refused at once, and its wallet spends nothing.

Its members can still look at everything in the portal, pay and download.
"""

from billing.operations import wallets
from organizations.models import Organization
from organizations.operations.changes import joining

EVENT = "organization.suspended_by_operator"


def suspend(*, org_id: str, text: str, actor_did: str) -> bool:
    """Suspend an organization, and tell its members the text; return False if it is suspended already.

    Raises NotMember if there is no such organization.
    """
    with joining(org_id, actor_did=actor_did) as change:
        organization = change.organization
        if organization.suspended_at is not None:
            return False
        organization.suspended_at, organization.suspension_text = change.now, text
        _save(organization)
        change.record("organization.suspend", org_id)
        change.announce(EVENT, {})
    return True


def lift(*, org_id: str, actor_did: str) -> bool:
    """Lift an organization's suspension; return False if there is none. Tokens that have not expired are accepted again."""
    with joining(org_id, actor_did=actor_did) as change:
        organization = change.organization
        if organization.suspended_at is None:
            return False
        organization.suspended_at, organization.suspension_text = None, ""
        _save(organization)
        change.record("organization.lift", org_id)
    return True


def _save(organization: Organization) -> None:
    organization.save(update_fields=["suspended_at", "suspension_text"])
    wallets.set_suspended("organization", organization.pk, is_suspended=organization.suspended_at is not None)
