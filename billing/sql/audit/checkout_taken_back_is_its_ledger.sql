-- What refunds and disputes took of a checkout is what its transfers took less what they gave back, at most its amount.
SELECT c.id, format('taken back %s of %s, ledger %s', c.taken_back_microusd, c.amount_microusd, coalesce(m.amount, 0))
  FROM billing_checkout c
  LEFT JOIN (SELECT split_part(t.source, '/', 1) AS checkout_id,
                    sum(CASE t.kind WHEN 'refund' THEN t.amount_microusd ELSE -t.amount_microusd END) AS amount
               FROM billing_transfer t WHERE t.kind IN ('refund', 'refund_return') AND t.source LIKE '%/%'
              GROUP BY 1) m ON m.checkout_id = c.id
 WHERE c.taken_back_microusd <> coalesce(m.amount, 0) OR c.taken_back_microusd > coalesce(c.amount_microusd, 0)
