"""Sets the threshold below which a wallet's owner is told, and arms the wallets of an earlier version.

What crosses a threshold is seen in its own transaction, by the ledger's functions (billing/sql/alerts.sql).
"""

from collections import deque
from datetime import datetime

from billing.operations import ledger
from billing.queries import alerts
from billing.rules.owners import Owner

AT_ONCE = 100


def set_threshold(owner: Owner, *, amount_microusd: int) -> int:
    """Set the worth below which the owner is told, 0 for never; return what it was.

    Nothing is recorded for a wallet that is below the new threshold, until it has been at or above it. Joins the caller's
    transaction, if there is one.
    """
    return ledger.set_low_balance(owner=owner, amount_microusd=amount_microusd).run()


def arm_all(*, now: datetime) -> int:
    """Arm each wallet by what it is worth; return how many were not. Whoever is below a threshold already hears nothing of it."""
    waiting = deque(alerts.unarmed(now))
    found = len(waiting)
    while waiting:
        batch = [waiting.popleft() for _ in range(min(len(waiting), AT_ONCE))]
        seen = set(ledger.watch_wallets(wallet_ids=batch).run())
        waiting.extend(wallet_id for wallet_id in batch if wallet_id not in seen)
    return found
