-- A budget holds what its subject's open calls hold, and has spent what they were charged since its month began. That month
-- is not in the future, where nothing would be counted until it comes. Small clock differences are allowed.
WITH usage AS (
  SELECT r.wallet_id, r.product, r.membership_id,
         date_trunc('month', r.closed_at AT TIME ZONE 'UTC')::date AS month,
         sum(CASE WHEN r.closed_at IS NULL THEN r.hold_microusd ELSE 0 END) AS held,
         sum(coalesce(r.charge_microusd, 0)) AS spent
    FROM billing_reservation r
   WHERE r.wallet_id IN (SELECT wallet_id FROM billing_budget)
     AND (r.closed_at IS NULL OR r.closed_at AT TIME ZONE 'UTC' >= (SELECT min(period_start) FROM billing_budget))
   GROUP BY 1, 2, 3, 4
), expected AS (
  SELECT b.id, coalesce(sum(u.held), 0) AS held,
         coalesce(sum(u.spent) FILTER (WHERE u.month >= b.period_start), 0) AS spent
    FROM billing_budget b
    LEFT JOIN usage u ON u.wallet_id = b.wallet_id
         AND (b.product IS NULL OR b.product = u.product)
         AND (b.membership_id IS NULL OR b.membership_id = u.membership_id)
   GROUP BY b.id
)
SELECT b.id, format('held %s, open calls %s; spent %s, calls %s', b.held_microusd, e.held, b.spent_microusd, e.spent)
  FROM billing_budget b JOIN expected e ON e.id = b.id
 WHERE b.held_microusd <> e.held OR b.spent_microusd <> e.spent
UNION ALL
SELECT b.id, format('counts from %s on, now %s', b.period_start, now()) FROM billing_budget b
 WHERE b.period_start <> date_trunc('month', b.period_start::timestamp)
    OR b.period_start > (now() + interval '1 day') AT TIME ZONE 'UTC'
