-- The held amount of a lot is what open calls hold of it.
SELECT l.id, format('held %s, open calls %s', l.held_microusd, coalesce(o.amount, 0))
  FROM billing_credit_lot l
  LEFT JOIN (SELECT part.lot_id, sum(part.amount) AS amount
               FROM billing_reservation r, unnest(r.lot_ids, r.lot_amounts_microusd) AS part (lot_id, amount)
              WHERE r.closed_at IS NULL GROUP BY part.lot_id) o ON o.lot_id = l.id
 WHERE l.held_microusd <> coalesce(o.amount, 0)
