-- A call's hold is its cash and its allocations.
SELECT r.id, format('hold %s, cash %s, lots %s', r.hold_microusd, r.cash_held_microusd, coalesce(a.amount, 0))
  FROM billing_reservation r
  LEFT JOIN (SELECT reservation_id, sum(amount_microusd) AS amount FROM billing_lot_allocation
              GROUP BY reservation_id) a ON a.reservation_id = r.id
 WHERE r.hold_microusd <> r.cash_held_microusd + coalesce(a.amount, 0)
