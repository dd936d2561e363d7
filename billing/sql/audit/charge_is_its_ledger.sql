-- A call's charge is what transfers took for it: from each lot, in order, at most what was held of it, then from the balance.
SELECT coalesce(r.id, t.source),
       format('charge %s, ledger %s; from the balance %s, cash held %s; %s from lots other than held',
              coalesce(r.charge_microusd, 0), coalesce(t.amount, 0), coalesce(t.cash, 0), r.cash_held_microusd,
              coalesce(t.elsewhere, 0))
  FROM billing_reservation r
  FULL JOIN (SELECT p.source, sum(p.amount_microusd) AS amount,
                    coalesce(sum(p.amount_microusd) FILTER (WHERE p.seq = 0), 0) AS cash,
                    count(*) FILTER (WHERE p.seq > 0 AND (
                      p.debit_account IS DISTINCT FROM 'lot:' || c.lot_ids[p.seq]
                      OR p.amount_microusd > c.lot_amounts_microusd[p.seq])) AS elsewhere
               FROM billing_transfer p LEFT JOIN billing_reservation c ON c.id = p.source
              WHERE p.kind = 'charge' GROUP BY p.source) t ON t.source = r.id
 WHERE r.id IS NULL OR coalesce(r.charge_microusd, 0) <> coalesce(t.amount, 0)
    OR t.cash > r.cash_held_microusd OR t.elsewhere > 0
