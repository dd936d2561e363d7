-- An invoice is paid if and only if one charge brought exactly the amount due. At most that was returned: refunds, in
-- whole cents, and for each other credit note one credit in the organization's wallet.
SELECT coalesce(i.id, p.invoice_id), format('status %s, due %s, paid %s by %s charges', i.status, i.due_microusd,
                                            coalesce(p.paid, 0), coalesce(p.charges, 0))
  FROM billing_invoice i
  FULL JOIN (SELECT invoice_id, sum(amount_microusd) AS paid, count(*) AS charges
               FROM billing_invoice_payment WHERE status = 'succeeded' GROUP BY invoice_id) p ON p.invoice_id = i.id
 WHERE i.id IS NULL OR coalesce(p.paid, 0) <> CASE i.status WHEN 'paid' THEN i.due_microusd ELSE 0 END OR p.charges > 1
UNION ALL
SELECT n.invoice_id, format('status %s, due %s, credited %s', i.status, i.due_microusd, n.credited)
  FROM (SELECT invoice_id, sum(amount_microusd) AS credited FROM billing_credit_note GROUP BY invoice_id) n
  LEFT JOIN billing_invoice i ON i.id = n.invoice_id
 WHERE i.status IS DISTINCT FROM 'paid' OR n.credited > i.due_microusd
UNION ALL
SELECT coalesce(n.id, l.source_key), format('%s of %s for %s, credit of %s for %s',
                                            CASE WHEN n.is_refund THEN 'refund' ELSE 'note' END, n.amount_microusd, i.org_id,
                                            l.granted_microusd, w.owner_key)
  FROM billing_credit_note n
  JOIN billing_invoice i ON i.id = n.invoice_id
  FULL JOIN (SELECT * FROM billing_credit_lot WHERE source_kind = 'credit_note') l ON l.source_key = n.id
  LEFT JOIN billing_wallet w ON w.id = l.wallet_id
 WHERE CASE WHEN n.is_refund THEN l.id IS NOT NULL OR n.amount_microusd % 10000 <> 0
            ELSE (n.amount_microusd, 'organization', i.org_id)
                 IS DISTINCT FROM (l.granted_microusd, w.owner_kind, w.owner_key) END
