-- A credit came from one grant, one payment or one merge of others, in its own wallet; it is closed if and only if
-- nothing remains of it.
SELECT l.id, format('remaining %s, held %s, closed at %s', l.remaining_microusd, l.held_microusd, l.closed_at)
  FROM billing_credit_lot l
 WHERE (l.closed_at IS NULL) <> (l.remaining_microusd > 0)
    OR l.held_microusd NOT BETWEEN 0 AND l.remaining_microusd OR l.remaining_microusd > l.granted_microusd
UNION ALL
SELECT coalesce(l.id, t.source), format('of %s %s, created at %s; brought by %s', l.source_kind, l.source_key, l.created_at,
                                        coalesce(t.ways, 'nothing'))
  FROM billing_credit_lot l
  FULL JOIN (SELECT substr(credit_account, 5) AS lot_id, min(source) AS source, CASE WHEN min(kind) = max(kind) THEN min(kind) END AS kind, count(*) AS times,
                    min(created_at) AS created_at, string_agg(format('%s %s/%s', kind, source, seq), ', ') AS ways
               FROM billing_transfer WHERE kind <> 'charge' AND credit_account LIKE 'lot:%'
              GROUP BY credit_account) t ON t.lot_id = l.id
 WHERE l.id IS NULL OR t.kind IS NULL OR (t.times <> 1 AND t.kind <> 'merge') OR t.created_at <> l.created_at
    OR NOT CASE t.kind WHEN 'grant' THEN t.source = l.id AND l.source_kind <> 'payment'
                       WHEN 'payment' THEN (l.source_kind, l.source_key) = ('payment', t.source)
                       WHEN 'merge' THEN l.source_kind = 'merge'
                       WHEN 'refund_return' THEN (l.source_kind, l.source_key) = ('payment', t.source)
                       ELSE false END
UNION ALL
SELECT l.id, 'no such wallet' FROM billing_credit_lot l
 WHERE NOT EXISTS (SELECT FROM billing_wallet w WHERE w.id = l.wallet_id)
UNION ALL
SELECT l.id, format('expires at %s, expired %s at %s', l.expires_at, t.amount_microusd, t.created_at)
  FROM billing_transfer t JOIN billing_credit_lot l ON t.debit_account = 'lot:' || l.id
 WHERE t.kind = 'expiry' AND (l.expires_at IS NULL OR t.created_at < l.expires_at OR t.source <> l.id)
