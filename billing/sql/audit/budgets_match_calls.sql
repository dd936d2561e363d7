-- A budget holds what its subject's open calls hold, and has spent what they were charged since its period began. That
-- period is a day, an ISO week or a month, in UTC, and not in the future, where nothing would be counted until it comes;
-- small clock differences are allowed. An override has both limit and end, and a budget is of its wallet's kind of owner. A
-- wallet with a budget is marked, or its calls would look for none.
WITH usage AS (
  SELECT r.wallet_id, r.product, r.membership_id, r.client_id, (r.closed_at AT TIME ZONE 'UTC')::date AS day,
         sum(CASE WHEN r.closed_at IS NULL THEN r.hold_microusd ELSE 0 END) AS held,
         sum(coalesce(r.charge_microusd, 0)) AS spent
    FROM billing_reservation r
   WHERE r.wallet_id IN (SELECT wallet_id FROM billing_budget)
     AND (r.closed_at IS NULL OR r.closed_at AT TIME ZONE 'UTC' >= (SELECT min(period_start) FROM billing_budget))
   GROUP BY 1, 2, 3, 4, 5
), expected AS (
  SELECT b.id, coalesce(sum(u.held), 0) AS held,
         coalesce(sum(u.spent) FILTER (WHERE u.day >= b.period_start), 0) AS spent
    FROM billing_budget b
    LEFT JOIN usage u ON u.wallet_id = b.wallet_id
         AND (b.product IS NULL OR b.product = u.product)
         AND (b.membership_id IS NULL OR b.membership_id = u.membership_id)
         AND (b.client_id IS NULL OR b.client_id = u.client_id)
   GROUP BY b.id
)
SELECT b.id, format('held %s, open calls %s; spent %s, calls %s', b.held_microusd, e.held, b.spent_microusd, e.spent)
  FROM billing_budget b JOIN expected e ON e.id = b.id
 WHERE b.held_microusd <> e.held OR b.spent_microusd <> e.spent
UNION ALL
SELECT b.id, format('counts a %s from %s on, now %s', b.period, b.period_start, now()) FROM billing_budget b
 WHERE CASE WHEN b.period IN ('day', 'week', 'month')
            THEN b.period_start <> date_trunc(b.period, b.period_start::timestamp) ELSE true END
    OR b.period_start > (now() + interval '1 day') AT TIME ZONE 'UTC'
UNION ALL
SELECT b.id, format('limit %s until %s, then %s', b.override_limit_microusd, b.override_until, b.limit_microusd)
  FROM billing_budget b
 WHERE (b.override_until IS NULL) <> (b.override_limit_microusd IS NULL) OR b.override_limit_microusd < 0
    OR b.limit_microusd < 0
UNION ALL
SELECT b.id, format('%s budget of an %s', b.scope, w.owner_kind)
  FROM billing_budget b JOIN billing_wallet w ON w.id = b.wallet_id
 WHERE (b.scope IN ('account', 'client')) <> (w.owner_kind = 'account')
UNION ALL
SELECT w.id, 'is not marked as having budgets'
  FROM billing_wallet w
 WHERE NOT w.has_budgets AND w.id IN (SELECT b.wallet_id FROM billing_budget b)
