-- A payment reaches one wallet: its debt at most once, and its balance or one lot at most once.
SELECT t.source, format('%s transfers to %s', count(*), string_agg(t.credit_account, ', '))
  FROM billing_transfer t
 WHERE t.kind = 'payment'
 GROUP BY t.source
HAVING count(DISTINCT t.wallet_id) > 1
    OR count(*) FILTER (WHERE t.credit_account LIKE 'debt:%') > 1
    OR count(*) FILTER (WHERE t.credit_account NOT LIKE 'debt:%') > 1
