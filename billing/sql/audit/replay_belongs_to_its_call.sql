-- A stored response belongs to a settled call and expires a day after it closed, or to a call in review and has no
-- expiry. The receipt in its headers states that call, its hold and its charge. (A stream's receipt is encrypted in the body.)
SELECT s.reservation_id, format('state %s, closed at %s, expires %s', r.state, r.closed_at, s.expires_at)
  FROM billing_stored_replay s
  LEFT JOIN billing_reservation r ON r.id = s.reservation_id
 WHERE NOT coalesce((r.state = 'settled' AND s.expires_at = r.closed_at + interval '24 hours')
                 OR (r.state = 'review' AND s.expires_at IS NULL), false)
UNION ALL
SELECT s.reservation_id, format('states %s %s; call %s, hold %s, charge %s', h.header->>0, h.header->>1, r.id, r.hold_microusd,
                                r.charge_microusd)
  FROM billing_stored_replay s
  JOIN billing_reservation r ON r.id = s.reservation_id
 CROSS JOIN LATERAL (SELECT coalesce(s.headers->'encrypted', s.headers->'compressed', s.headers) AS list) l
 CROSS JOIN LATERAL jsonb_array_elements(CASE jsonb_typeof(l.list) WHEN 'array' THEN l.list ELSE '[]' END) AS h (header)
 WHERE (r.closed_at IS NULL OR r.closed_at >= %(since)s)
   AND h.header->>1 <> CASE h.header->>0
         WHEN 'x-service-usage-id' THEN r.id
         WHEN 'x-service-hold-microusd' THEN r.hold_microusd::text
         WHEN 'x-service-charge-microusd' THEN coalesce(r.charge_microusd::text, 'none yet') END
