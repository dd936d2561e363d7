-- A paid top-up brought exactly its amount into its owner's wallet; no other checkout brought anything.
SELECT c.id, format('status %s, amount %s, ledger %s', c.status, c.amount_microusd, coalesce(p.amount, 0))
  FROM billing_checkout c
  LEFT JOIN (SELECT t.source, sum(t.amount_microusd) AS amount, min(t.wallet_id) AS wallet_id
               FROM billing_transfer t WHERE t.kind = 'payment' GROUP BY t.source) p ON p.source = c.id
  LEFT JOIN billing_wallet w ON w.id = p.wallet_id
 WHERE coalesce(p.amount, 0) <> CASE c.status WHEN 'paid' THEN c.amount_microusd ELSE 0 END
    OR (p.source IS NOT NULL AND (w.owner_kind, w.owner_key) IS DISTINCT FROM (c.owner_kind, c.owner_key))
