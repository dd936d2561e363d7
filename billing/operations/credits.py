"""Grant credits."""

from datetime import datetime

from billing.operations import ledger
from gateway.core.contract.ids import new_id


class GrantConflict(Exception):
    """The key was already used to grant another amount, or to another owner, for another product or expiry."""


def grant(
    owner_kind: str,
    owner_key: str,
    *,
    amount_microusd: int,
    source_kind: str,
    source_key: str,
    product: str | None = None,
    expires_at: datetime | None = None,
) -> tuple[str, bool]:
    """Grant a credit, once per source; return the lot's id and whether it is new.

    Raises GrantConflict if the source has already granted a different credit.
    """
    granted = ledger.grant_credit(
        lot_id=new_id("crd"),
        owner=(owner_kind, owner_key),
        amount_microusd=amount_microusd,
        product=product,
        expires_at=expires_at,
        source_kind=source_kind,
        source_key=source_key,
    ).run()
    if granted.outcome == "conflict":
        raise GrantConflict(f"{source_kind} {source_key} has already granted something else ({granted.lot_id})")
    return granted.lot_id, granted.outcome == "granted"
