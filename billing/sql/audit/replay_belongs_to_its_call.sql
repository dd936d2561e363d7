-- A stored answer is of a settled call and ends, or of one in review and waits.
SELECT s.reservation_id, format('state %s, expires %s', r.state, s.expires_at)
  FROM billing_stored_replay s
  LEFT JOIN billing_reservation r ON r.id = s.reservation_id
 WHERE NOT coalesce((r.state = 'settled' AND s.expires_at IS NOT NULL) OR (r.state = 'review' AND s.expires_at IS NULL),
                    false)
