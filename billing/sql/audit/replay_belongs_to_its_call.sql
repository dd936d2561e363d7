-- A stored response belongs to a settled call and expires a day after it closed, or to a call in review and has no
-- expiry.
SELECT s.reservation_id, format('state %s, closed at %s, expires %s', r.state, r.closed_at, s.expires_at)
  FROM billing_stored_replay s
  LEFT JOIN billing_reservation r ON r.id = s.reservation_id
 WHERE NOT coalesce((r.state = 'settled' AND s.expires_at = r.closed_at + interval '24 hours')
                 OR (r.state = 'review' AND s.expires_at IS NULL), false)
