-- A paid top-up brought exactly its amount into its owner's wallet, once; refunds and disputes took and returned the
-- amounts of the checkout, of the same wallet; and no payment or refund belongs to a checkout that does not exist.
SELECT coalesce(c.id, m.checkout_id), f.faults
  FROM billing_checkout c
  FULL JOIN (SELECT split_part(t.source, '/', 1) AS checkout_id, min(t.wallet_id) AS wallet_id,
                    count(DISTINCT t.wallet_id) AS wallets,
                    coalesce(sum(t.amount_microusd) FILTER (WHERE t.kind = 'payment'), 0) AS paid,
                    count(*) FILTER (WHERE t.kind = 'payment' AND t.credit_account LIKE 'debt:%') AS to_debt,
                    count(*) FILTER (WHERE t.kind = 'payment' AND t.credit_account NOT LIKE 'debt:%') AS to_wallet,
                    count(*) FILTER (WHERE t.kind = 'payment' AND t.source LIKE '%/%'
                                        OR t.kind <> 'payment' AND t.source NOT LIKE '%/%') AS misnamed,
                    coalesce(sum(CASE t.kind WHEN 'refund' THEN t.amount_microusd
                                             WHEN 'refund_return' THEN -t.amount_microusd END), 0) AS taken_back,
                    min(t.created_at) AS first_at
               FROM billing_transfer t WHERE t.kind IN ('payment', 'refund', 'refund_return')
              GROUP BY 1) m ON m.checkout_id = c.id
  LEFT JOIN billing_wallet w ON w.id = m.wallet_id
 CROSS JOIN LATERAL (
   SELECT concat_ws('; ',
     CASE WHEN c.id IS NULL THEN format('paid %s, taken back %s, without a checkout', m.paid, m.taken_back) END,
     CASE WHEN coalesce(m.paid, 0) <> CASE c.status WHEN 'paid' THEN c.amount_microusd ELSE 0 END
          THEN format('status %s, amount %s, ledger %s', c.status, c.amount_microusd, coalesce(m.paid, 0)) END,
     CASE WHEN c.taken_back_microusd <> coalesce(m.taken_back, 0)
               OR c.taken_back_microusd > coalesce(c.amount_microusd, 0)
          THEN format('taken back %s of %s, ledger %s', c.taken_back_microusd, c.amount_microusd,
                      coalesce(m.taken_back, 0)) END,
     CASE WHEN m.wallets > 1 OR (w.owner_kind, w.owner_key) IS DISTINCT FROM (c.owner_kind, c.owner_key)
          THEN format('of %s %s, moved in %s wallets, one of %s %s', c.owner_kind, c.owner_key, m.wallets, w.owner_kind,
                      w.owner_key) END,
     CASE WHEN m.to_debt > 1 OR m.to_wallet > 1 OR m.misnamed > 0
          THEN format('%s payments to the debt, %s to balance or credit, %s misnamed', m.to_debt, m.to_wallet,
                      m.misnamed) END,
     CASE WHEN c.status = 'paid' AND (c.session_ref IS NULL OR c.paid_at IS NULL) THEN 'paid without a session' END
   ) AS faults) f
 WHERE f.faults <> '' AND (m.checkout_id IS NOT NULL OR c.status = 'paid' OR c.taken_back_microusd <> 0)
