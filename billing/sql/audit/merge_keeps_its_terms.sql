-- A merge moves money between credits of the same wallet, product and expiry, and never a payment's credit.
SELECT t.id::text, format('%s to %s: %s', t.debit_account, t.credit_account, t.amount_microusd)
  FROM billing_transfer t
  LEFT JOIN billing_credit_lot old ON 'lot:' || old.id = t.debit_account
  LEFT JOIN billing_credit_lot new ON 'lot:' || new.id = t.credit_account
 WHERE t.kind = 'merge'
   AND NOT coalesce(
     old.id = t.source AND new.source_kind = 'merge' AND old.source_kind <> 'payment'
     AND t.wallet_id = old.wallet_id AND t.wallet_id = new.wallet_id
     AND old.product IS NOT DISTINCT FROM new.product AND old.expires_at IS NOT DISTINCT FROM new.expires_at, false)
