-- Every row that names another names one that exists.
SELECT r.id, 'call without a wallet' FROM billing_reservation r
 WHERE NOT EXISTS (SELECT FROM billing_wallet w WHERE w.id = r.wallet_id)
UNION ALL
SELECT r.id, 'call without prices' FROM billing_reservation r
 WHERE NOT EXISTS (SELECT FROM billing_price_version p WHERE p.id = r.price_version_id)
UNION ALL
SELECT l.id, 'lot without a wallet' FROM billing_credit_lot l
 WHERE NOT EXISTS (SELECT FROM billing_wallet w WHERE w.id = l.wallet_id)
UNION ALL
SELECT b.id, 'budget without a wallet' FROM billing_budget b
 WHERE NOT EXISTS (SELECT FROM billing_wallet w WHERE w.id = b.wallet_id)
UNION ALL
SELECT t.id::text, 'transfer without a wallet' FROM billing_transfer t
 WHERE NOT EXISTS (SELECT FROM billing_wallet w WHERE w.id = t.wallet_id)
UNION ALL
SELECT r.id, 'call without its credit' FROM billing_reservation r, unnest(r.lot_ids) AS held (lot_id)
 WHERE NOT EXISTS (SELECT FROM billing_credit_lot l WHERE l.id = held.lot_id)
