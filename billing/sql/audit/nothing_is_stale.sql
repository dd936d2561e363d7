-- The jobs keep up: nothing waits long past the time at which a job should have processed it.
SELECT r.id, format('dispatched, deadline was %s', r.deadline_at) FROM billing_reservation r
 WHERE r.closed_at IS NULL AND r.state = 'dispatched'
   AND coalesce(r.deadline_at, '-infinity') < now() - interval '15 minutes'  -- nothing ends a call without a deadline
UNION ALL
SELECT r.id, format('in review, sent at %s', r.dispatched_at) FROM billing_reservation r
 WHERE r.closed_at IS NULL AND r.state = 'review'
   AND coalesce(r.dispatched_at, '-infinity') < now() - make_interval(hours => %(review_hours)s) - interval '1 hour'
UNION ALL
SELECT l.id, format('expired at %s, not swept', l.expires_at) FROM billing_credit_lot l
 WHERE l.closed_at IS NULL AND l.expires_at < now() - interval '1 hour' AND l.remaining_microusd > l.held_microusd
UNION ALL
SELECT r.id, format('%s until %s', r.state, r.deadline_at) FROM billing_reservation r
 WHERE r.closed_at IS NULL AND r.deadline_at > greatest(r.created_at, now()) + interval '1 day'
UNION ALL
SELECT s.reservation_id, format('stored answer expired at %s', s.expires_at) FROM billing_stored_replay s
 WHERE s.expires_at < now() - interval '1 day'
