"""Queries for one person's consents."""

from django.db.models import QuerySet

from accounts.models import Account, Consent
from accounts.rules.principal import Principal
from gateway.core.database import ledger_connection

_WITHDRAWN = """
SELECT 1 FROM accounts_consent c JOIN accounts_account a ON a.id = c.account_id
 WHERE a.did = $1 AND c.client_id = $2 AND c.kind = $3 AND c.withdrawn_at IS NOT NULL
"""


def active_of(account: Account) -> QuerySet[Consent]:
    """Return a person's consents that have not been withdrawn, newest first."""
    return account.consents.filter(withdrawn_at__isnull=True).order_by("-given_at", "-pk")


async def is_given(principal: Principal, kind: str) -> bool:
    """Return whether the caller's token carries a consent that has not been withdrawn since."""
    if kind not in principal.consents:
        return False
    async with ledger_connection() as connection:
        return not await connection.run(_WITHDRAWN, [principal.did, principal.client_id, kind])
