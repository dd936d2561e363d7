-- Every balance, debt and credit equals its incoming minus its outgoing transfers; each kind of transfer uses only its
-- own kinds of accounts, of its own wallet; and all owners' money minus their debts equals what came in from outside.
WITH flow AS MATERIALIZED (
  SELECT t.kind, t.wallet_id, t.debit_account, t.credit_account, sum(t.amount_microusd) AS amount,
         min(t.amount_microusd) AS least_amount, min(t.id) AS first_id, count(*) AS transfers
    FROM billing_transfer t GROUP BY t.kind, t.wallet_id, t.debit_account, t.credit_account
), side AS (
  SELECT f.*, a.account, a.sign, CASE a.noun WHEN 'platform' THEN a.account ELSE a.noun END AS noun,
         CASE WHEN a.noun = 'lot' THEN l.wallet_id ELSE a.id END AS owner
    FROM flow f
   CROSS JOIN LATERAL (VALUES (f.debit_account, -1), (f.credit_account, 1)) AS s (account, sign)
   CROSS JOIN LATERAL (SELECT s.account, s.sign, split_part(s.account, ':', 1) AS noun,
                              substr(s.account, strpos(s.account, ':') + 1) AS id) a
    LEFT JOIN billing_credit_lot l ON a.noun = 'lot' AND l.id = a.id
), entry AS (
  SELECT account, sum(sign * amount) AS amount, sum(amount) FILTER (WHERE sign > 0) AS granted
    FROM side GROUP BY account
), allowed (kind, debit, credit) AS (VALUES
  ('charge', 'wallet', 'platform:revenue'), ('charge', 'lot', 'platform:revenue'),
  ('payment', 'platform:payments', 'wallet'), ('payment', 'platform:payments', 'lot'),
  ('payment', 'platform:payments', 'debt'),
  ('refund', 'wallet', 'platform:payments'), ('refund', 'lot', 'platform:payments'),
  ('refund', 'debt', 'platform:payments'),
  ('refund_return', 'platform:payments', 'wallet'), ('refund_return', 'platform:payments', 'lot'),
  ('refund_return', 'platform:payments', 'debt'),
  ('repayment', 'wallet', 'debt'), ('repayment', 'lot', 'debt'),
  ('grant', 'platform:grants', 'lot'), ('merge', 'lot', 'lot'), ('expiry', 'lot', 'platform:expired'),
  ('forfeit', 'lot', 'platform:expired')
)
SELECT coalesce(w.id, e.account), format('balance %s, ledger %s', w.balance_microusd, coalesce(e.amount, 0))
  FROM billing_wallet w FULL JOIN (SELECT * FROM entry WHERE account LIKE 'wallet:%') e ON e.account = 'wallet:' || w.id
 WHERE w.balance_microusd IS DISTINCT FROM coalesce(e.amount, 0)
UNION ALL
SELECT coalesce(w.id, e.account), format('debt %s, ledger %s', w.debt_microusd, coalesce(-e.amount, 0))
  FROM billing_wallet w FULL JOIN (SELECT * FROM entry WHERE account LIKE 'debt:%') e ON e.account = 'debt:' || w.id
 WHERE w.debt_microusd IS DISTINCT FROM coalesce(-e.amount, 0)
UNION ALL
SELECT coalesce(l.id, e.account), format('granted %s, remaining %s, ledger in %s, left %s', l.granted_microusd,
                                         l.remaining_microusd, coalesce(e.granted, 0), coalesce(e.amount, 0))
  FROM billing_credit_lot l FULL JOIN (SELECT * FROM entry WHERE account LIKE 'lot:%') e ON e.account = 'lot:' || l.id
 WHERE l.granted_microusd IS DISTINCT FROM coalesce(e.granted, 0)
    OR l.remaining_microusd IS DISTINCT FROM coalesce(e.amount, 0)
UNION ALL
SELECT 'transfer ' || f.first_id, format('%s from %s to %s (%s transfers of %s, at least %s)', f.kind, f.debit_account,
                                         f.credit_account, f.transfers, f.amount, f.least_amount)
  FROM flow f
 WHERE f.least_amount <= 0 OR NOT EXISTS (
   SELECT FROM allowed a
    WHERE a.kind = f.kind
      AND a.debit = CASE WHEN f.debit_account LIKE 'platform:%' THEN f.debit_account
                         ELSE split_part(f.debit_account, ':', 1) END
      AND a.credit = CASE WHEN f.credit_account LIKE 'platform:%' THEN f.credit_account
                          ELSE split_part(f.credit_account, ':', 1) END)
UNION ALL
SELECT 'transfer ' || s.first_id, format('%s of wallet %s names %s of wallet %s', s.kind, s.wallet_id, s.account, s.owner)
  FROM side s
 WHERE s.noun IN ('wallet', 'debt', 'lot') AND s.owner IS DISTINCT FROM s.wallet_id
UNION ALL
SELECT 'transfer ' || f.first_id, format('no such wallet: %s', f.wallet_id) FROM flow f
 WHERE NOT EXISTS (SELECT FROM billing_wallet w WHERE w.id = f.wallet_id)
UNION ALL
SELECT 'everything', format('owners have %s, the platform gave %s', o.amount, p.amount)
  FROM (SELECT (SELECT coalesce(sum(balance_microusd - debt_microusd), 0) FROM billing_wallet)
             + (SELECT coalesce(sum(remaining_microusd), 0) FROM billing_credit_lot) AS amount) o,
       (SELECT coalesce(-sum(sign * amount), 0) AS amount FROM side WHERE account LIKE 'platform:%') p
 WHERE o.amount <> p.amount
