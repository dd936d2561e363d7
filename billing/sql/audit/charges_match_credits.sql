-- A call's charge uses the credits that it held, in the order of the hold, up to the charge, of the same wallet and
-- instant.
SELECT coalesce(e.id || '/' || e.position, t.source || '/' || t.seq),
       format('expected %s from %s of wallet %s at %s, ledger %s from %s of wallet %s at %s to %s', coalesce(e.amount, 0),
              e.lot_id, e.wallet_id, e.closed_at, coalesce(t.amount_microusd, 0), t.debit_account, t.wallet_id, t.created_at,
              t.credit_account)
  FROM (SELECT r.id, r.wallet_id, r.closed_at, held.position, held.lot_id,
               least(held.amount, r.charge_microusd - coalesce(sum(held.amount) OVER (
                 PARTITION BY r.id ORDER BY held.position ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING), 0)) AS amount
          FROM billing_reservation r,
               unnest(r.lot_ids, r.lot_amounts_microusd) WITH ORDINALITY AS held (lot_id, amount, position)
         WHERE r.charge_microusd > 0 AND r.lot_ids IS NOT NULL AND r.closed_at >= %(since)s
           AND r.id >= %(first)s AND (r.id < %(last)s OR %(last)s::text IS NULL)) e
  FULL JOIN (SELECT * FROM billing_transfer WHERE kind = 'charge' AND seq <> 0 AND created_at >= %(since)s
                AND source >= %(first)s AND (source < %(last)s OR %(last)s::text IS NULL)) t
    ON t.source = e.id AND t.seq = e.position
 WHERE (e.amount > 0 OR t.id IS NOT NULL)
   AND (e.amount, 'lot:' || e.lot_id, e.wallet_id, e.closed_at, 'platform:revenue')
       IS DISTINCT FROM (t.amount_microusd, t.debit_account, t.wallet_id, t.created_at, t.credit_account)
