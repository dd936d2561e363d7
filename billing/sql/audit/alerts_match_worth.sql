-- The next alert of a wallet is the one that its worth says. Credits that have expired since it was last seen may still count.
SELECT w.id, format('next alert below %s, worth %s', w.alert_below_microusd, w.worth)
  FROM (SELECT o.id, o.alert_below_microusd, o.low_balance_microusd,
               (o.balance_microusd - o.debt_microusd + coalesce(c.usable, 0))::bigint AS worth,
               (o.balance_microusd - o.debt_microusd + coalesce(c.remaining, 0))::bigint AS worth_before
          FROM billing_wallet o
          LEFT JOIN (SELECT l.wallet_id, sum(l.remaining_microusd) AS remaining,
                            sum(l.remaining_microusd) FILTER (WHERE l.expires_at IS NULL OR l.expires_at > clock_timestamp())
                              AS usable
                       FROM billing_credit_lot l WHERE l.closed_at IS NULL GROUP BY l.wallet_id) c ON c.wallet_id = o.id) w
 WHERE NOT coalesce(w.alert_below_microusd, 0)
           BETWEEN coalesce(billing_alert_below(w.worth, w.low_balance_microusd), 0)
               AND coalesce(billing_alert_below(w.worth_before, w.low_balance_microusd), 0)
    OR w.alert_below_microusd NOT IN (1, greatest(w.low_balance_microusd, 1))
