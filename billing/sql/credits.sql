-- billing_grant_credit(p_lot_id text, p_owner_kind text, p_owner_key text, p_product text, p_amount bigint,
--                      p_expires_at timestamptz, p_source_kind text, p_source_key text,
--                      p_from_account text DEFAULT 'platform:grants', p_now timestamptz DEFAULT NULL)
--   RETURNS (outcome text, lot_id text)
--
-- Grants a credit to an owner, once per source. Outcomes: 'granted'; 'already' (the same grant was made before);
-- 'conflict' (the source granted something else before: nothing changed). lot_id is the source's lot.
CREATE OR REPLACE FUNCTION billing_grant_credit(
  p_lot_id text, p_owner_kind text, p_owner_key text, p_product text, p_amount bigint, p_expires_at timestamptz,
  p_source_kind text, p_source_key text, p_from_account text DEFAULT 'platform:grants',
  p_now timestamptz DEFAULT NULL,
  OUT outcome text, OUT lot_id text)
LANGUAGE plpgsql AS $$
DECLARE
  v_wallet billing_wallet := billing_lock_wallet(p_owner_kind, p_owner_key);
  v_now timestamptz := coalesce(p_now, clock_timestamp());
BEGIN
  INSERT INTO billing_credit_lot (
    id, wallet_id, product, granted_microusd, remaining_microusd, held_microusd, expires_at, source_kind, source_key,
    created_at)
  VALUES (
    p_lot_id, v_wallet.id, p_product, p_amount, p_amount, 0, p_expires_at, p_source_kind, p_source_key, v_now)
  ON CONFLICT (source_kind, source_key) DO NOTHING;
  IF NOT FOUND THEN
    SELECT CASE WHEN l.wallet_id = v_wallet.id AND l.granted_microusd = p_amount
                     AND l.product IS NOT DISTINCT FROM p_product AND l.expires_at IS NOT DISTINCT FROM p_expires_at
                THEN 'already' ELSE 'conflict' END, l.id
      INTO outcome, lot_id
      FROM billing_credit_lot l WHERE l.source_kind = p_source_kind AND l.source_key = p_source_key;
    RETURN;
  END IF;
  INSERT INTO billing_transfer (kind, source, seq, debit_account, credit_account, amount_microusd, wallet_id, created_at)
  VALUES ('grant', p_lot_id, 0, p_from_account, 'lot:' || p_lot_id, p_amount, v_wallet.id, v_now);
  PERFORM billing_note_credit(v_wallet.id, p_amount, NULL, v_now);
  outcome := 'granted';
  lot_id := p_lot_id;
END $$;


-- billing_sweep_lots(p_now timestamptz DEFAULT clock_timestamp(), p_limit integer DEFAULT 100)
--   RETURNS TABLE (lot_id text, amount_microusd bigint)
--
-- Posts the remainder of expired credits as expired, except what open calls hold; that is swept once they close.
-- One transfer per sweep of a lot. Wallets locked by others are left for the next call, see billing_lock_wallets.
CREATE OR REPLACE FUNCTION billing_sweep_lots(p_now timestamptz DEFAULT clock_timestamp(), p_limit integer DEFAULT 100)
RETURNS TABLE (lot_id text, amount_microusd bigint) LANGUAGE plpgsql AS $$
DECLARE
  v_due text[] := ARRAY(
    SELECT l.id FROM billing_credit_lot l
     WHERE l.closed_at IS NULL AND l.expires_at <= p_now AND l.remaining_microusd > l.held_microusd
     ORDER BY l.expires_at LIMIT p_limit);
  v_wallets text[] := billing_lock_wallets(
    ARRAY(SELECT DISTINCT l.wallet_id FROM billing_credit_lot l WHERE l.id = ANY (v_due)));
BEGIN
  RETURN QUERY
    WITH due AS (
      SELECT l.id, l.wallet_id, l.remaining_microusd - l.held_microusd AS free FROM billing_credit_lot l
       WHERE l.id = ANY (v_due) AND l.wallet_id = ANY (v_wallets) AND l.remaining_microusd > l.held_microusd
    ), swept AS (
      UPDATE billing_credit_lot l
         SET remaining_microusd = l.held_microusd, closed_at = CASE WHEN l.held_microusd = 0 THEN p_now END
        FROM due d WHERE l.id = d.id
    )
    INSERT INTO billing_transfer AS t (
      kind, source, seq, debit_account, credit_account, amount_microusd, wallet_id, created_at)
    SELECT 'expiry', d.id, (SELECT count(*) FROM billing_transfer b WHERE b.kind = 'expiry' AND b.source = d.id),
           'lot:' || d.id, 'platform:expired', d.free, d.wallet_id, p_now
      FROM due d
    RETURNING t.source, t.amount_microusd;
  PERFORM billing_watch_wallet(o.id, p_now)
     FROM (SELECT w.id FROM billing_wallet w WHERE w.id = ANY (v_wallets) ORDER BY w.owner_kind, w.owner_key) o;
END $$;


-- billing_merge_lots(p_lot_id text, p_now timestamptz DEFAULT NULL, p_limit integer DEFAULT 256)
--   RETURNS TABLE (wallet_id text, lots integer, amount_microusd bigint)
--
-- Merges the free amounts of at most p_limit credits with the same terms (wallet, product, expiry) into one credit,
-- p_lot_id, if a wallet has 32 such credits or more: a call holds at most 64. One transfer from each. Credits of
-- payments stay separate, because a refund takes the payment's own credit first. One wallet per call; no row if nothing
-- is to merge.
CREATE OR REPLACE FUNCTION billing_merge_lots(
  p_lot_id text, p_now timestamptz DEFAULT NULL, p_limit integer DEFAULT 256)
RETURNS TABLE (wallet_id text, lots integer, amount_microusd bigint) LANGUAGE plpgsql AS $$
DECLARE
  v_now timestamptz := coalesce(p_now, clock_timestamp());
  v_product text;
  v_expires_at timestamptz;
  v_ids text[];
BEGIN
  SELECT l.wallet_id, l.product, l.expires_at INTO wallet_id, v_product, v_expires_at
    FROM billing_credit_lot l
   -- The wallets that have that many credits are read from the index; they are few.
   WHERE l.wallet_id IN (SELECT o.wallet_id FROM billing_credit_lot o
                          WHERE o.closed_at IS NULL GROUP BY o.wallet_id HAVING count(*) >= 32)
     AND l.closed_at IS NULL AND l.remaining_microusd > l.held_microusd AND l.source_kind <> 'payment'
     AND (l.expires_at IS NULL OR l.expires_at > v_now)
   GROUP BY l.wallet_id, l.product, l.expires_at HAVING count(*) >= 32
   LIMIT 1;
  PERFORM 1 FROM billing_wallet w WHERE w.id = wallet_id FOR NO KEY UPDATE;
  v_now := coalesce(p_now, clock_timestamp());
  SELECT array_agg(due.id), count(*), sum(due.free) INTO v_ids, lots, amount_microusd
    FROM (SELECT l.id, l.remaining_microusd - l.held_microusd AS free FROM billing_credit_lot l
           WHERE l.wallet_id = billing_merge_lots.wallet_id AND l.closed_at IS NULL
             AND l.remaining_microusd > l.held_microusd AND l.source_kind <> 'payment'
             AND l.product IS NOT DISTINCT FROM v_product AND l.expires_at IS NOT DISTINCT FROM v_expires_at
             AND (l.expires_at IS NULL OR l.expires_at > v_now)
           ORDER BY l.id LIMIT p_limit) due;
  IF lots < 2 THEN
    RETURN;
  END IF;
  INSERT INTO billing_transfer (kind, source, seq, debit_account, credit_account, amount_microusd, wallet_id, created_at)
  SELECT 'merge', l.id, (SELECT count(*) FROM billing_transfer b WHERE b.kind = 'merge' AND b.source = l.id),
         'lot:' || l.id, 'lot:' || p_lot_id, l.remaining_microusd - l.held_microusd, l.wallet_id, v_now
    FROM billing_credit_lot l WHERE l.id = ANY (v_ids);
  UPDATE billing_credit_lot l
     SET remaining_microusd = l.held_microusd, closed_at = CASE WHEN l.held_microusd = 0 THEN v_now END
   WHERE l.id = ANY (v_ids);
  INSERT INTO billing_credit_lot (
    id, wallet_id, product, granted_microusd, remaining_microusd, held_microusd, expires_at, source_kind, source_key,
    created_at)
  VALUES (
    p_lot_id, wallet_id, v_product, amount_microusd, amount_microusd, 0, v_expires_at, 'merge', p_lot_id, v_now);
  RETURN NEXT;
END $$;
