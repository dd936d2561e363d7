-- Nothing closed before it began, and nothing is dated in the future, where no seal would reach it. Small clock
-- differences are allowed.
SELECT r.id, format('created at %s, closed at %s, now %s', r.created_at, r.closed_at, now())
  FROM billing_reservation r
 WHERE (r.closed_at IS NULL OR r.closed_at >= %(since)s)
   AND (r.closed_at < r.created_at - interval '1 minute'
        OR greatest(r.created_at, r.closed_at) > now() + interval '1 day')
UNION ALL
SELECT 'transfer ' || t.id, format('%s dated %s, now %s', t.kind, t.created_at, now())
  FROM billing_transfer t WHERE t.created_at > now() + interval '1 day'
UNION ALL
SELECT l.id, format('granted at %s, closed at %s, now %s', l.created_at, l.closed_at, now())
  FROM billing_credit_lot l
 WHERE l.closed_at < l.created_at - interval '1 minute' OR greatest(l.created_at, l.closed_at) > now() + interval '1 day'
