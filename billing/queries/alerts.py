"""Reads thresholds of alerts, and finds wallets whose next alert does not follow from what they are worth."""

from datetime import datetime

from django.db import connection

from billing.models import Wallet
from billing.rules.owners import Owner
from gateway.core.contract.limits import LOW_BALANCE_MICROUSD

_UNARMED = """
SELECT w.id
  FROM billing_wallet w
  LEFT JOIN (SELECT l.wallet_id, sum(l.remaining_microusd) AS usable FROM billing_credit_lot l
              WHERE l.closed_at IS NULL AND (l.expires_at IS NULL OR l.expires_at > %(now)s)
              GROUP BY l.wallet_id) c ON c.wallet_id = w.id
 WHERE w.alert_below_microusd IS DISTINCT FROM billing_alert_below(
         (w.balance_microusd - w.debt_microusd + coalesce(c.usable, 0))::bigint, w.low_balance_microusd)
 ORDER BY w.id
"""


def threshold_microusd(owner: Owner) -> int:
    """Return the worth below which the owner is told, in micro-USD; 0: never."""
    kind, key = owner
    found = Wallet.objects.filter(owner_kind=kind, owner_key=key).values_list("low_balance_microusd", flat=True).first()
    return LOW_BALANCE_MICROUSD if found is None else found


def unarmed(now: datetime) -> list[str]:
    """Return the wallets that were not seen since their worth passed a threshold, such as those of an earlier version."""
    with connection.cursor() as cursor:
        cursor.execute(_UNARMED, {"now": now})
        return [wallet_id for (wallet_id,) in cursor.fetchall()]
