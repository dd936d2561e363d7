-- billing_take_payment(p_owner_kind text, p_owner_key text, p_product text, p_amount bigint, p_source text,
--                      p_lot_id text, p_now timestamptz DEFAULT NULL)
--   RETURNS (outcome text, repaid_microusd bigint, credited_microusd bigint)
--
-- Credits money that a payment provider has confirmed, once per source: a debt is repaid first, the rest becomes
-- balance, or with p_product a credit for that product that does not expire (lot p_lot_id). Outcomes: 'credited';
-- 'already' (the same payment was taken before); 'conflict' (the source brought another amount or owner before: nothing
-- changed). Raises check_violation unless the amount is positive and the source named, as the two functions below.
CREATE OR REPLACE FUNCTION billing_take_payment(
  p_owner_kind text, p_owner_key text, p_product text, p_amount bigint, p_source text, p_lot_id text,
  p_now timestamptz DEFAULT NULL,
  OUT outcome text, OUT repaid_microusd bigint, OUT credited_microusd bigint)
LANGUAGE plpgsql AS $$
DECLARE
  v_wallet billing_wallet := billing_lock_wallet(p_owner_kind, p_owner_key);
  v_now timestamptz := coalesce(p_now, clock_timestamp());
BEGIN
  IF (p_amount > 0 AND p_source <> '') IS NOT TRUE THEN
    RAISE EXCEPTION 'a payment of % micro-USD from source %', p_amount, p_source USING ERRCODE = 'check_violation';
  END IF;
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
  PERFORM billing_note_credit(v_wallet.id, p_amount, p_source, v_now);
END $$;


-- billing_taken_of(p_payment text) RETURNS (taken_microusd bigint, of_lots_microusd bigint)
--
-- The amount that refunds and disputes took of a payment and did not return, and how much of it the payment's own
-- credits paid, then or later. Sources of one payment are p_payment || '/' and a number, or 'repaid'.
CREATE OR REPLACE FUNCTION billing_taken_of(p_payment text, OUT taken_microusd bigint, OUT of_lots_microusd bigint)
LANGUAGE sql STABLE AS $$
  SELECT coalesce(sum(CASE t.kind WHEN 'refund' THEN t.amount_microusd WHEN 'refund_return' THEN -t.amount_microusd
                                  ELSE 0 END), 0)::bigint,
         coalesce(sum(CASE WHEN t.debit_account LIKE 'lot:%' THEN t.amount_microusd
                           WHEN t.credit_account LIKE 'lot:%' THEN -t.amount_microusd ELSE 0 END), 0)::bigint
    FROM billing_transfer t
   WHERE t.source > p_payment || '/' AND t.source < p_payment || '0'
     AND t.kind IN ('refund', 'refund_return', 'repayment')
$$;


-- billing_free_lots_of(p_wallet_id text, p_payment text) RETURNS SETOF billing_credit_lot
--
-- The payment's own credits, from the payment or from returned refunds, that have a free amount.
CREATE OR REPLACE FUNCTION billing_free_lots_of(p_wallet_id text, p_payment text)
RETURNS SETOF billing_credit_lot LANGUAGE sql STABLE AS $$
  SELECT l.* FROM billing_credit_lot l
   WHERE l.wallet_id = p_wallet_id AND l.closed_at IS NULL AND l.remaining_microusd > l.held_microusd
     AND l.source_kind = 'payment'
     AND (l.source_key = p_payment OR l.source_key > p_payment || '/' AND l.source_key < p_payment || '0')
   ORDER BY l.id
$$;


-- billing_take_from_lots(p_wallet_id text, p_payment text, p_most bigint, p_kind text, p_source text, p_to text,
--                        p_now timestamptz)
--   RETURNS bigint
--
-- Moves at most p_most of the free amount of the payment's own credits to the account p_to, one transfer per lot, and
-- returns how much it moved. The caller holds the wallet's lock.
CREATE OR REPLACE FUNCTION billing_take_from_lots(
  p_wallet_id text, p_payment text, p_most bigint, p_kind text, p_source text, p_to text, p_now timestamptz)
RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE
  v_lot record;
  v_part bigint;
  v_taken bigint := 0;
  v_seq integer := (SELECT coalesce(max(t.seq) + 1, 2) FROM billing_transfer t
                     WHERE t.source = p_source AND t.kind = p_kind);
BEGIN
  FOR v_lot IN
    SELECT l.id, l.remaining_microusd - l.held_microusd AS free FROM billing_free_lots_of(p_wallet_id, p_payment) l
  LOOP
    v_part := least(v_lot.free, p_most - v_taken);
    EXIT WHEN v_part <= 0;
    UPDATE billing_credit_lot l
       SET remaining_microusd = l.remaining_microusd - v_part,
           closed_at = CASE WHEN l.remaining_microusd = v_part THEN p_now END
     WHERE l.id = v_lot.id;
    INSERT INTO billing_transfer (
      kind, source, seq, debit_account, credit_account, amount_microusd, wallet_id, created_at)
    VALUES (p_kind, p_source, v_seq, 'lot:' || v_lot.id, p_to, v_part, p_wallet_id, p_now);
    v_taken := v_taken + v_part;
    v_seq := v_seq + 1;
  END LOOP;
  RETURN v_taken;
END $$;


-- billing_take_back(p_owner_kind text, p_owner_key text, p_amount bigint, p_source text, p_payment text DEFAULT NULL,
--                   p_now timestamptz DEFAULT NULL)
--   RETURNS (outcome text, taken_microusd bigint, debt_microusd bigint)
--
-- Posts a refund or a dispute of p_amount, once per source: takes what is available and not held, first from the own
-- credits of the payment p_payment, then from the balance; the rest becomes a debt that blocks spending. debt_microusd
-- is what this source added to it. Outcomes: 'taken' | 'already'. Sources of one payment are p_payment || '/' || a
-- number.
CREATE OR REPLACE FUNCTION billing_take_back(
  p_owner_kind text, p_owner_key text, p_amount bigint, p_source text, p_payment text DEFAULT NULL,
  p_now timestamptz DEFAULT NULL,
  OUT outcome text, OUT taken_microusd bigint, OUT debt_microusd bigint)
LANGUAGE plpgsql AS $$
DECLARE
  v_wallet billing_wallet := billing_lock_wallet(p_owner_kind, p_owner_key);
  v_now timestamptz := coalesce(p_now, clock_timestamp());
  v_part bigint;
BEGIN
  IF (p_amount > 0 AND p_source <> '') IS NOT TRUE THEN
    RAISE EXCEPTION 'a refund of % micro-USD from source %', p_amount, p_source USING ERRCODE = 'check_violation';
  END IF;
  SELECT 'already', coalesce(sum(t.amount_microusd) FILTER (WHERE t.debit_account NOT LIKE 'debt:%'), 0),
         coalesce(sum(t.amount_microusd) FILTER (WHERE t.debit_account LIKE 'debt:%'), 0)
    INTO outcome, taken_microusd, debt_microusd
    FROM billing_transfer t WHERE t.kind = 'refund' AND t.source = p_source
   HAVING count(*) > 0;
  IF FOUND THEN
    RETURN;
  END IF;

  outcome := 'taken';
  taken_microusd := billing_take_from_lots(
    v_wallet.id, p_payment, p_amount, 'refund', p_source, 'platform:payments', v_now);
  v_part := least(v_wallet.balance_microusd - v_wallet.held_microusd, p_amount - taken_microusd);
  taken_microusd := taken_microusd + v_part;
  debt_microusd := p_amount - taken_microusd;
  INSERT INTO billing_transfer (kind, source, seq, debit_account, credit_account, amount_microusd, wallet_id, created_at)
  SELECT 'refund', p_source, part.seq, part.account, 'platform:payments', part.amount, v_wallet.id, v_now
    FROM (VALUES (0, 'wallet:' || v_wallet.id, v_part), (1, 'debt:' || v_wallet.id, debt_microusd))
      AS part (seq, account, amount)
   WHERE part.amount > 0;
  UPDATE billing_wallet w
     SET balance_microusd = w.balance_microusd - v_part,
         debt_microusd = w.debt_microusd + (p_amount - taken_microusd)
   WHERE w.id = v_wallet.id;
  PERFORM billing_watch_wallet(v_wallet.id, v_now);
END $$;


-- billing_give_back(p_owner_kind text, p_owner_key text, p_product text, p_amount bigint, p_source text,
--                   p_payment text, p_lot_id text, p_now timestamptz DEFAULT NULL)
--   RETURNS (outcome text, repaid_microusd bigint, credited_microusd bigint)
--
-- Undoes p_amount of what billing_take_back took of the payment p_payment, once per source: a refund failed, or a
-- dispute was won. A debt is repaid first. Amounts taken last return first, so a credit for p_product (the new lot
-- p_lot_id) is granted only for the part of the payment's own credits that is not to stay taken; the rest becomes
-- balance. Outcomes: 'credited' | 'already'.
CREATE OR REPLACE FUNCTION billing_give_back(
  p_owner_kind text, p_owner_key text, p_product text, p_amount bigint, p_source text, p_payment text, p_lot_id text,
  p_now timestamptz DEFAULT NULL,
  OUT outcome text, OUT repaid_microusd bigint, OUT credited_microusd bigint)
LANGUAGE plpgsql AS $$
DECLARE
  v_wallet billing_wallet := billing_lock_wallet(p_owner_kind, p_owner_key);
  v_now timestamptz := coalesce(p_now, clock_timestamp());
  v_taken bigint;
  v_of_lots bigint;
  v_to_lot bigint;
BEGIN
  IF (p_amount > 0 AND p_source <> '') IS NOT TRUE THEN
    RAISE EXCEPTION 'a returned refund of % micro-USD from source %', p_amount, p_source USING ERRCODE = 'check_violation';
  END IF;
  SELECT 'already', coalesce(sum(t.amount_microusd) FILTER (WHERE t.credit_account LIKE 'debt:%'), 0),
         coalesce(sum(t.amount_microusd) FILTER (WHERE t.credit_account NOT LIKE 'debt:%'), 0)
    INTO outcome, repaid_microusd, credited_microusd
    FROM billing_transfer t WHERE t.kind = 'refund_return' AND t.source = p_source
   HAVING count(*) > 0;
  IF FOUND THEN
    RETURN;
  END IF;

  SELECT t.taken_microusd, t.of_lots_microusd INTO v_taken, v_of_lots FROM billing_taken_of(p_payment) t;
  IF p_amount > v_taken THEN
    RAISE EXCEPTION '% micro-USD were taken of %, % cannot be given back', v_taken, p_payment, p_amount;
  END IF;

  outcome := 'credited';
  repaid_microusd := least(v_wallet.debt_microusd, p_amount);
  credited_microusd := p_amount - repaid_microusd;
  v_to_lot := CASE WHEN p_product IS NULL THEN 0
                   ELSE least(credited_microusd, greatest(v_of_lots - (v_taken - p_amount), 0)) END;
  IF v_to_lot > 0 THEN
    INSERT INTO billing_credit_lot (
      id, wallet_id, product, granted_microusd, remaining_microusd, held_microusd, source_kind, source_key, created_at)
    VALUES (p_lot_id, v_wallet.id, p_product, v_to_lot, v_to_lot, 0, 'payment', p_source, v_now);
  END IF;
  INSERT INTO billing_transfer (kind, source, seq, debit_account, credit_account, amount_microusd, wallet_id, created_at)
  SELECT 'refund_return', p_source, part.seq, 'platform:payments', part.account, part.amount, v_wallet.id, v_now
    FROM (VALUES (0, 'debt:' || v_wallet.id, repaid_microusd),
                 (1, 'wallet:' || v_wallet.id, credited_microusd - v_to_lot),
                 (2, 'lot:' || p_lot_id, v_to_lot)) AS part (seq, account, amount)
   WHERE part.amount > 0;
  UPDATE billing_wallet w
     SET debt_microusd = w.debt_microusd - repaid_microusd,
         balance_microusd = w.balance_microusd + (credited_microusd - v_to_lot)
   WHERE w.id = v_wallet.id;
  PERFORM billing_note_credit(v_wallet.id, p_amount, p_payment, v_now);
END $$;


-- billing_repay_from_lots(p_wallet_id text, p_payments text[], p_now timestamptz) RETURNS bigint
--
-- Repays a wallet's debt from the free amount of the payments' own credits: for each payment at most what was taken
-- back of it beyond what its credits have paid. So the final debt is the same whether or not calls held the credits at
-- the time of the refund. Returns what it repaid. The caller holds the wallet's lock.
CREATE OR REPLACE FUNCTION billing_repay_from_lots(p_wallet_id text, p_payments text[], p_now timestamptz)
RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE
  v_debt bigint := (SELECT w.debt_microusd FROM billing_wallet w WHERE w.id = p_wallet_id);
  v_payment text;
  v_beyond bigint;
  v_repaid bigint := 0;
BEGIN
  IF v_debt = 0 THEN
    RETURN 0;
  END IF;
  FOR v_payment, v_beyond IN
    SELECT p.payment, t.taken_microusd - t.of_lots_microusd
      FROM (SELECT DISTINCT unnest(p_payments) AS payment) p, billing_taken_of(p.payment) t
     ORDER BY p.payment
  LOOP
    v_repaid := v_repaid + billing_take_from_lots(
      p_wallet_id, v_payment, least(v_debt - v_repaid, v_beyond), 'repayment', v_payment || '/repaid',
      'debt:' || p_wallet_id, p_now);
  END LOOP;
  IF v_repaid > 0 THEN
    UPDATE billing_wallet w SET debt_microusd = w.debt_microusd - v_repaid WHERE w.id = p_wallet_id;
  END IF;
  RETURN v_repaid;
END $$;


-- billing_repay_debts(p_limit integer DEFAULT 100, p_now timestamptz DEFAULT NULL)
--   RETURNS TABLE (wallet_id text, amount_microusd bigint)
--
-- Repays debts from refunds and disputes of checkouts from what is free of their own credits, then from the balance:
-- what open calls held at that time may have been released since. Each row is progress. Wallets locked by others are
-- left for the next call, see billing_lock_wallets.
CREATE OR REPLACE FUNCTION billing_repay_debts(p_limit integer DEFAULT 100, p_now timestamptz DEFAULT NULL)
RETURNS TABLE (wallet_id text, amount_microusd bigint) LANGUAGE plpgsql AS $$
DECLARE
  v_now timestamptz;
  v_due text[] := ARRAY(
    SELECT DISTINCT w.id
      FROM billing_checkout c
      JOIN billing_wallet w ON w.owner_kind = c.owner_kind AND w.owner_key = c.owner_key
     WHERE c.taken_back_microusd > 0 AND w.debt_microusd > 0
       AND (w.balance_microusd > w.held_microusd
            OR EXISTS (SELECT FROM billing_taken_of(c.id) t
                        WHERE t.taken_microusd > t.of_lots_microusd
                          AND EXISTS (SELECT FROM billing_free_lots_of(w.id, c.id))))
     ORDER BY w.id LIMIT p_limit);
  v_from_balance bigint;
BEGIN
  FOREACH wallet_id IN ARRAY billing_lock_wallets(v_due) LOOP
    v_now := coalesce(p_now, clock_timestamp());
    amount_microusd := billing_repay_from_lots(
      wallet_id,
      ARRAY(SELECT c.id FROM billing_checkout c JOIN billing_wallet w
                ON w.owner_kind = c.owner_kind AND w.owner_key = c.owner_key
             WHERE w.id = wallet_id AND c.taken_back_microusd > 0),
      v_now);
    v_from_balance := (
      SELECT least(w.debt_microusd, w.balance_microusd - w.held_microusd) FROM billing_wallet w WHERE w.id = wallet_id);
    IF v_from_balance > 0 THEN
      UPDATE billing_wallet w
         SET debt_microusd = w.debt_microusd - v_from_balance, balance_microusd = w.balance_microusd - v_from_balance
       WHERE w.id = wallet_id;
      INSERT INTO billing_transfer (
        kind, source, seq, debit_account, credit_account, amount_microusd, wallet_id, created_at)
      VALUES (
        'repayment', 'rep_' || replace(gen_random_uuid()::text, '-', ''), 0, 'wallet:' || wallet_id,
        'debt:' || wallet_id, v_from_balance, wallet_id, v_now);
      amount_microusd := amount_microusd + v_from_balance;
    END IF;
    IF amount_microusd > 0 THEN
      RETURN NEXT;
    END IF;
  END LOOP;
END $$;
