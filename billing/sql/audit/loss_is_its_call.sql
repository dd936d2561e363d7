-- What an upstream reported beyond the hold, and nothing else, is booked as an overrun; a released loss was the hold.
SELECT coalesce(r.id, l.reservation_id), format('%s %s, call %s with overrun %s', l.kind, l.amount_microusd, r.state,
                                                r.overrun_microusd)
  FROM billing_loss l
  FULL JOIN (SELECT id, state, hold_microusd, overrun_microusd FROM billing_reservation
              WHERE overrun_microusd > 0 OR id IN (SELECT reservation_id FROM billing_loss)) r
    ON r.id = l.reservation_id
 WHERE NOT coalesce((l.kind = 'overrun' AND r.state = 'settled' AND l.amount_microusd = r.overrun_microusd)
                 OR (l.kind = 'unresolved' AND r.state = 'released' AND l.amount_microusd = r.hold_microusd), false)
