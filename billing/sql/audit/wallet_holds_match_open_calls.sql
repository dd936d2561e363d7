-- The held amount of a wallet is what its open calls hold of its balance.
SELECT w.id, format('held %s, open calls %s', w.held_microusd, coalesce(o.cash, 0))
  FROM billing_wallet w
  LEFT JOIN (SELECT wallet_id, sum(cash_held_microusd) AS cash FROM billing_reservation
              WHERE closed_at IS NULL GROUP BY wallet_id) o ON o.wallet_id = w.id
 WHERE w.held_microusd <> coalesce(o.cash, 0)
