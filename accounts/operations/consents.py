"""Consents: given on the consent page, withdrawn in the portal. A withdrawal takes effect at once, even for issued
tokens.
"""

from datetime import datetime

from accounts.models import Account, Consent


def give(*, account: Account, client_id: str, kind: str, now: datetime) -> None:
    """Record a consent; one that was withdrawn is reactivated."""
    Consent.objects.update_or_create(
        account=account, client_id=client_id, kind=kind, defaults={"given_at": now, "withdrawn_at": None}
    )


def withdraw(*, account: Account, consent_id: int, now: datetime) -> bool:
    """Withdraw one of the person's own consents; return False if none is in force."""
    standing = Consent.objects.filter(pk=consent_id, account=account, withdrawn_at__isnull=True)
    return bool(standing.update(withdrawn_at=now))
