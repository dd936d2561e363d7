-- Usage reported beyond the hold, and nothing else, is booked as an overrun; a release without evidence is booked as a
-- loss of its hold; both at the instant at which the call closed.
SELECT coalesce(r.id, l.reservation_id), format('%s %s at %s, call %s (%s) with overrun %s at %s', l.kind, l.amount_microusd,
                                                l.created_at, r.state, r.resolution, r.overrun_microusd, r.closed_at)
  FROM billing_loss l
  FULL JOIN (SELECT id, state, resolution, hold_microusd, overrun_microusd, closed_at FROM billing_reservation
              WHERE overrun_microusd > 0 OR resolution = 'unresolved' AND hold_microusd > 0
                 OR id IN (SELECT reservation_id FROM billing_loss)) r
    ON r.id = l.reservation_id
 WHERE NOT coalesce(l.created_at = r.closed_at
                    AND (l.kind = 'overrun' AND r.state = 'settled' AND l.amount_microusd = r.overrun_microusd
                      OR l.kind = 'unresolved' AND r.state = 'released' AND l.amount_microusd = r.hold_microusd), false)
