"""Queries for months of seats without an invoice."""

from datetime import datetime

from django.db import connection

_MONTHS = """
SELECT DISTINCT m.starts_at, e.organization_id
  FROM organizations_entitlementinterval i
  JOIN organizations_entitlement e ON e.id = i.entitlement_id
 CROSS JOIN LATERAL (
   SELECT s AT TIME ZONE 'UTC' AS starts_at, (s + interval '1 month') AT TIME ZONE 'UTC' AS ends_at
     FROM generate_series(date_trunc('month', i.started_at AT TIME ZONE 'UTC'),
                          least(i.ended_at, %(before)s) AT TIME ZONE 'UTC', interval '1 month') AS s) AS m
 CROSS JOIN LATERAL (
   SELECT p.price_microusd FROM billing_seat_price p WHERE p.product = e.product_id
    ORDER BY p.effective_at <= m.starts_at DESC, abs(extract(epoch FROM p.effective_at - m.starts_at)) LIMIT 1) AS p
 WHERE m.ends_at <= %(before)s AND (i.ended_at IS NULL OR i.ended_at > m.starts_at) AND p.price_microusd > 0
   AND NOT EXISTS (SELECT FROM billing_invoice v
                    WHERE v.org_id = e.organization_id AND v.period_start = m.starts_at)
   AND NOT EXISTS (SELECT FROM billing_external_mapping x
                    WHERE x.org_id = e.organization_id AND x.product = e.product_id AND x.created_at < m.ends_at)
 ORDER BY 1, 2
"""


def months(*, before: datetime) -> list[tuple[datetime, str]]:
    """Return the months that ended by `before` and need an invoice, with their organizations, oldest first. Such a
    month has a product with a price that is not billed externally.
    """
    with connection.cursor() as cursor:
        cursor.execute(_MONTHS, {"before": before})
        return list(cursor.fetchall())
