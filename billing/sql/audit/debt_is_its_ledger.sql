-- A wallet's debt is what refunds took beyond the balance less what payments repaid.
SELECT coalesce(w.id, l.account), format('debt %s, ledger %s', w.debt_microusd, coalesce(l.amount, 0))
  FROM billing_wallet w
  FULL JOIN (
    SELECT account, sum(amount) AS amount
      FROM (SELECT debit_account AS account, amount_microusd AS amount FROM billing_transfer
             WHERE debit_account LIKE 'debt:%'
            UNION ALL
            SELECT credit_account, -amount_microusd FROM billing_transfer WHERE credit_account LIKE 'debt:%') entry
     GROUP BY account) l ON l.account = 'debt:' || w.id
 WHERE w.debt_microusd IS DISTINCT FROM coalesce(l.amount, 0)
