-- A wallet's balance is what transfers brought in less what they took out.
SELECT coalesce(w.id, l.account), format('balance %s, ledger %s', w.balance_microusd, coalesce(l.amount, 0))
  FROM billing_wallet w
  FULL JOIN (
    SELECT account, sum(amount) AS amount
      FROM (SELECT credit_account AS account, amount_microusd AS amount FROM billing_transfer
             WHERE credit_account LIKE 'wallet:%'
            UNION ALL
            SELECT debit_account, -amount_microusd FROM billing_transfer WHERE debit_account LIKE 'wallet:%') entry
     GROUP BY account) l ON l.account = 'wallet:' || w.id
 WHERE w.balance_microusd IS DISTINCT FROM coalesce(l.amount, 0)
