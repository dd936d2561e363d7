-- A call's charge is what transfers took for it: from each lot what its allocation spent, the rest from the balance.
SELECT coalesce(r.id, t.source),
       format('charge %s, ledger %s; from lots %s, allocations spent %s', coalesce(r.charge_microusd, 0),
              coalesce(t.amount, 0), coalesce(t.lots, 0), coalesce(a.spent, 0))
  FROM billing_reservation r
  FULL JOIN (SELECT source, sum(amount_microusd) AS amount,
                    coalesce(sum(amount_microusd) FILTER (WHERE debit_account LIKE 'lot:%'), 0) AS lots
               FROM billing_transfer WHERE kind = 'charge' GROUP BY source) t ON t.source = r.id
  LEFT JOIN (SELECT reservation_id, sum(spent_microusd) AS spent FROM billing_lot_allocation
              GROUP BY reservation_id) a ON a.reservation_id = r.id
 WHERE coalesce(r.charge_microusd, 0) <> coalesce(t.amount, 0) OR coalesce(t.lots, 0) <> coalesce(a.spent, 0)
    OR (r.id IS NULL)
