-- Every reference to another row refers to an existing row.
SELECT b.id, 'budget without a wallet' FROM billing_budget b
 WHERE NOT EXISTS (SELECT FROM billing_wallet w WHERE w.id = b.wallet_id)
UNION ALL
SELECT r.id, 'call without its credit' FROM billing_reservation r, unnest(r.lot_ids) AS held (lot_id)
 WHERE (r.closed_at IS NULL OR r.closed_at >= %(since)s)
   AND NOT EXISTS (SELECT FROM billing_credit_lot l WHERE l.id = held.lot_id AND l.wallet_id = r.wallet_id)
UNION ALL
SELECT o.reservation_id, 'takeover without its call' FROM billing_takeover o
 WHERE o.created_at >= %(since)s
   AND NOT EXISTS (SELECT FROM billing_reservation r WHERE r.id = o.reservation_id AND r.state <> 'dispatched')
