-- A call's hold is its cash and what it took of credits.
SELECT r.id, format('hold %s, cash %s, lots %s', r.hold_microusd, r.cash_held_microusd, coalesce(a.amount, 0))
  FROM billing_reservation r
 CROSS JOIN LATERAL (SELECT sum(part) AS amount FROM unnest(r.lot_amounts_microusd) part) a
 WHERE r.hold_microusd <> r.cash_held_microusd + coalesce(a.amount, 0)
