-- A call keeps its idempotency key until a day after it closed, and no other call used the key earlier.
SELECT r.id, format('closed at %s, its key is free', r.closed_at)
  FROM billing_reservation r
 WHERE r.idempotency_key IS NOT NULL AND NOT r.replayable AND r.state <> 'released'
   AND (r.closed_at IS NULL OR r.closed_at > now() - interval '24 hours')
UNION ALL
SELECT r.id, format('closed at %s, its key was used again at %s by %s', r.closed_at, o.created_at, o.id)
  FROM billing_reservation r
  JOIN billing_reservation o ON o.wallet_id = r.wallet_id AND o.route = r.route
       AND o.idempotency_key = r.idempotency_key AND o.id <> r.id
 WHERE (NOT r.replayable OR r.tableoid <> 'billing_reservation'::regclass)  -- no unique index reaches into a month's table
   AND r.state <> 'released' AND r.closed_at >= %(since)s AND r.idempotency_key IS NOT NULL
   AND o.created_at > r.created_at AND o.created_at < r.closed_at + interval '24 hours'
