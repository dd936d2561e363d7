-- A charge of automatic top-up that succeeded has a paid checkout of the same wallet, amount and payment, and no other charge has
-- one; a wallet's row says below which worth a top-up is due.
SELECT c.id, format('%s, amount %s, payment %s; checkout %s, amount %s, payment %s, of %s %s', c.status, c.amount_microusd,
                    c.payment_ref, k.status, k.amount_microusd, k.payment_ref, k.owner_kind, k.owner_key)
  FROM billing_auto_top_up_charge c
  LEFT JOIN billing_wallet w ON w.id = c.wallet_id
  LEFT JOIN billing_checkout k ON k.id = c.id
 WHERE w.id IS NULL
    OR (c.status = 'succeeded') <> (k.id IS NOT NULL)
    OR k.id IS NOT NULL
       AND (k.status, k.owner_kind, k.owner_key, k.provider, k.is_live, k.payment_ref)
           IS DISTINCT FROM ('paid', w.owner_kind, w.owner_key, c.provider, c.is_live, c.payment_ref)
    OR k.amount_microusd <> c.amount_microusd
UNION ALL
SELECT w.id, format('a top-up is due below %s, by its terms below %s', w.top_up_below_microusd, a.threshold_microusd)
  FROM billing_wallet w LEFT JOIN billing_auto_top_up a ON a.wallet_id = w.id
 WHERE w.top_up_below_microusd
       IS DISTINCT FROM CASE WHEN a.is_enabled AND a.paused_at IS NULL THEN a.threshold_microusd END
