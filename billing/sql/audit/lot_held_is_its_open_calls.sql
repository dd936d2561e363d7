-- What a lot holds is what open calls have allocated of it.
SELECT l.id, format('held %s, open calls %s', l.held_microusd, coalesce(o.amount, 0))
  FROM billing_credit_lot l
  LEFT JOIN (SELECT a.lot_id, sum(a.amount_microusd) AS amount
               FROM billing_reservation r JOIN billing_lot_allocation a ON a.reservation_id = r.id
              WHERE r.closed_at IS NULL GROUP BY a.lot_id) o ON o.lot_id = l.id
 WHERE l.held_microusd <> coalesce(o.amount, 0)
