-- billing_take_payment(p_owner_kind text, p_owner_key text, p_product text, p_amount bigint, p_source text,
--                      p_lot_id text, p_now timestamptz DEFAULT NULL)
--   RETURNS (outcome text, repaid_microusd bigint, credited_microusd bigint)
--
-- Credits money that a payment provider has confirmed, once a source: a debt is repaid first, the rest becomes balance,
-- or with p_product a credit for that product that does not expire (lot p_lot_id). Outcomes: 'credited'; 'already' (the
-- same payment was taken before); 'conflict' (the source brought another amount or owner before: nothing changed).
CREATE OR REPLACE FUNCTION billing_take_payment(
  p_owner_kind text, p_owner_key text, p_product text, p_amount bigint, p_source text, p_lot_id text,
  p_now timestamptz DEFAULT NULL,
  OUT outcome text, OUT repaid_microusd bigint, OUT credited_microusd bigint)
LANGUAGE plpgsql AS $$
DECLARE
  v_wallet billing_wallet := billing_lock_wallet(p_owner_kind, p_owner_key);
  v_now timestamptz := coalesce(p_now, clock_timestamp());
BEGIN
  SELECT CASE WHEN bool_and(t.wallet_id = v_wallet.id) AND sum(t.amount_microusd) = p_amount
              THEN 'already' ELSE 'conflict' END,
         coalesce(sum(t.amount_microusd) FILTER (WHERE t.credit_account LIKE 'debt:%'), 0),
         coalesce(sum(t.amount_microusd) FILTER (WHERE t.credit_account NOT LIKE 'debt:%'), 0)
    INTO outcome, repaid_microusd, credited_microusd
    FROM billing_transfer t WHERE t.kind = 'payment' AND t.source = p_source
   HAVING count(*) > 0;
  IF FOUND THEN
    RETURN;
  END IF;

  outcome := 'credited';
  repaid_microusd := least(v_wallet.debt_microusd, p_amount);
  credited_microusd := p_amount - repaid_microusd;
  INSERT INTO billing_transfer (kind, source, seq, debit_account, credit_account, amount_microusd, wallet_id, created_at)
  SELECT 'payment', p_source, part.seq, 'platform:payments', part.account, part.amount, v_wallet.id, v_now
    FROM (VALUES (0, 'debt:' || v_wallet.id, repaid_microusd),
                 (1, CASE WHEN p_product IS NULL THEN 'wallet:' || v_wallet.id ELSE 'lot:' || p_lot_id END,
                  credited_microusd)) AS part (seq, account, amount)
   WHERE part.amount > 0;
  UPDATE billing_wallet w
     SET debt_microusd = w.debt_microusd - repaid_microusd,
         balance_microusd = w.balance_microusd + CASE WHEN p_product IS NULL THEN credited_microusd ELSE 0 END
   WHERE w.id = v_wallet.id;
  IF p_product IS NOT NULL AND credited_microusd > 0 THEN
    INSERT INTO billing_credit_lot (
      id, wallet_id, product, granted_microusd, remaining_microusd, held_microusd, source_kind, source_key, created_at)
    VALUES (
      p_lot_id, v_wallet.id, p_product, credited_microusd, credited_microusd, 0, 'payment', p_source, v_now);
  END IF;
END $$;


-- billing_take_back(p_owner_kind text, p_owner_key text, p_amount bigint, p_source text,
--                   p_now timestamptz DEFAULT NULL)
--   RETURNS (outcome text, taken_microusd bigint, debt_microusd bigint)
--
-- Books a refund or a dispute of p_amount, once a source: takes what balance is there and not held, the rest becomes a
-- debt that blocks spending. debt_microusd is what this source added to it. Outcomes: 'taken' | 'already'.
CREATE OR REPLACE FUNCTION billing_take_back(
  p_owner_kind text, p_owner_key text, p_amount bigint, p_source text, p_now timestamptz DEFAULT NULL,
  OUT outcome text, OUT taken_microusd bigint, OUT debt_microusd bigint)
LANGUAGE plpgsql AS $$
DECLARE
  v_wallet billing_wallet := billing_lock_wallet(p_owner_kind, p_owner_key);
  v_now timestamptz := coalesce(p_now, clock_timestamp());
BEGIN
  SELECT 'already', coalesce(sum(t.amount_microusd) FILTER (WHERE t.debit_account LIKE 'wallet:%'), 0),
         coalesce(sum(t.amount_microusd) FILTER (WHERE t.debit_account LIKE 'debt:%'), 0)
    INTO outcome, taken_microusd, debt_microusd
    FROM billing_transfer t WHERE t.kind = 'refund' AND t.source = p_source
   HAVING count(*) > 0;
  IF FOUND THEN
    RETURN;
  END IF;

  outcome := 'taken';
  taken_microusd := least(v_wallet.balance_microusd - v_wallet.held_microusd, p_amount);
  debt_microusd := p_amount - taken_microusd;
  INSERT INTO billing_transfer (kind, source, seq, debit_account, credit_account, amount_microusd, wallet_id, created_at)
  SELECT 'refund', p_source, part.seq, part.account, 'platform:payments', part.amount, v_wallet.id, v_now
    FROM (VALUES (0, 'wallet:' || v_wallet.id, taken_microusd), (1, 'debt:' || v_wallet.id, debt_microusd))
      AS part (seq, account, amount)
   WHERE part.amount > 0;
  UPDATE billing_wallet w
     SET balance_microusd = w.balance_microusd - taken_microusd,
         debt_microusd = w.debt_microusd + (p_amount - taken_microusd)
   WHERE w.id = v_wallet.id;
END $$;
