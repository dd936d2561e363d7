-- What remains of a lot is what was granted less what was spent and what expired; it was granted exactly once.
SELECT coalesce(c.id, l.account),
       format('granted %s, remaining %s, ledger in %s, out %s', c.granted_microusd, c.remaining_microusd,
              coalesce(l.granted, 0), coalesce(l.taken, 0))
  FROM billing_credit_lot c
  FULL JOIN (
    SELECT account, coalesce(sum(amount) FILTER (WHERE amount > 0), 0) AS granted,
           coalesce(-sum(amount) FILTER (WHERE amount < 0), 0) AS taken
      FROM (SELECT credit_account AS account, amount_microusd AS amount FROM billing_transfer
             WHERE credit_account LIKE 'lot:%'
            UNION ALL
            SELECT debit_account, -amount_microusd FROM billing_transfer WHERE debit_account LIKE 'lot:%') entry
     GROUP BY account) l ON l.account = 'lot:' || c.id
 WHERE c.granted_microusd IS DISTINCT FROM coalesce(l.granted, 0)
    OR c.remaining_microusd IS DISTINCT FROM coalesce(l.granted - l.taken, 0)
