-- Settled calls, and no others, have a usage record, with the call's charge.
SELECT coalesce(r.id, u.reservation_id), format('state %s, charge %s, usage record %s', r.state, r.charge_microusd,
                                                u.charge_microusd)
  FROM billing_reservation r
  FULL JOIN billing_usage_record u ON u.reservation_id = r.id
 WHERE (r.state = 'settled' OR u.reservation_id IS NOT NULL)
   AND (r.state IS DISTINCT FROM 'settled' OR u.charge_microusd IS DISTINCT FROM r.charge_microusd)
