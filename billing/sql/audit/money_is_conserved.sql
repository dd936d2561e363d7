-- All that owners have, less what they owe, is what came in from outside less what went out.
SELECT 'everything', format('owners have %s, the platform gave %s', o.amount, p.amount)
  FROM (SELECT (SELECT coalesce(sum(balance_microusd - debt_microusd), 0) FROM billing_wallet)
             + (SELECT coalesce(sum(remaining_microusd), 0) FROM billing_credit_lot) AS amount) o,
       (SELECT coalesce(sum(CASE WHEN debit_account LIKE 'platform:%' THEN amount_microusd ELSE 0 END
                          - CASE WHEN credit_account LIKE 'platform:%' THEN amount_microusd ELSE 0 END), 0) AS amount
          FROM billing_transfer) p
 WHERE o.amount <> p.amount
